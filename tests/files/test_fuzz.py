"""One changed byte in every kind of file: refused with a sentence, or the same numbers."""

from file_fuzz import fuzz


def test_a_changed_byte_is_refused_or_changes_no_number():
    counts, wrong = fuzz(420, seed=5)
    assert not wrong
    assert counts["run.ckpt", "refused"] > 50  # of 60: all of a checkpoint but a little is numbers
