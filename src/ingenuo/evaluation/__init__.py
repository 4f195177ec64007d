"""Is a model any good, and is it fair?"""
