"""What each row would be given by a model that has learned all the others: leave-one-out, in one pass.

Leaving a row out changes what its own class has in its own cells, and little else. So its log likelihood is that of the
whole tally but for those cells, which are reckoned anew; no tally is made for each row.
"""
