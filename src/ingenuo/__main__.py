"""`python -m ingenuo`: the command, where its own name is not on the path."""

from ingenuo.cli import main

if __name__ == "__main__":
    main()
