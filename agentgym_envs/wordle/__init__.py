"""The Wordle scenario: guess a word of five letters in six guesses."""
