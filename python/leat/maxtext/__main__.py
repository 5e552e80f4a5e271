"""python -m leat.maxtext: MaxText's trainer on leat's batches; see leat.maxtext.launch."""
from leat.maxtext.launch import main

if __name__ == "__main__":
    main()
