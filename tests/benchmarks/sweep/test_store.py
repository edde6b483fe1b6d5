import pytest

from benchmarks.sweep.plan import FREE_SETTINGS, conditions
from benchmarks.sweep.store import SweepFolder
from tests.benchmarks.sweep.samples import cell
from trainers.options.errors import UsageError

LONG = "x" * 100
FIRST = {"settings": (("action_format", "react"), ("env_kwargs", LONG)), "fingerprint": "a"}


def begun(path, first):
    """Return a folder in which a cell's first batch was played."""
    folder = SweepFolder(path)
    folder.claim([first])
    folder.write(first, 0, [], seconds=1.0)
    return folder


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"temperature": 0.5}, "temperature: 1.0 there, 0.5 requested"),
        (
            {"settings": (("action_format", "react"), ("env_kwargs", LONG + "!"))},
            f"env_kwargs: {LONG!r} there, {LONG + '!'!r} requested",
        ),
        ({"tasks": ("textcraft_1",)}, "tasks: 4 there, other 1 requested"),
        (
            {"fingerprint": "b"},
            "random had other files or another endpoint then, so it was another policy",
        ),
    ],
    ids=["field", "setting", "tasks", "files"],
)
def test_what_was_played_otherwise_is_refused_and_only_what_differs_is_told(
    tmp_path, changes, told
):
    folder = begun(tmp_path, cell(**FIRST))
    with pytest.raises(ValueError) as refused:
        folder.claim([cell(**{**FIRST, **changes})])
    assert f"holds episodes played otherwise ({told}); use" in str(refused.value)
    assert folder.cells() == [cell(**FIRST)]


def test_more_of_the_grid_is_welcome(tmp_path):
    folder = begun(tmp_path, cell())
    folder.claim([cell(), cell(seed=1)])
    assert len(folder.cells()) == 2


def test_a_cell_that_nothing_was_played_of_is_free(tmp_path):
    folder = SweepFolder(tmp_path)
    folder.claim([cell()])
    folder.claim([cell(temperature=0.5)])
    assert folder.cells() == [cell(temperature=0.5)]


def test_a_call_whose_cell_was_claimed_otherwise_adds_nothing_to_it(tmp_path):
    folder = SweepFolder(tmp_path)
    folder.claim([cell()])
    folder.claim([cell(temperature=0.5)])
    with pytest.raises(UsageError, match="another call.*temperature: 0.5 there, 1.0 requested"):
        folder.write(cell(), 0, [], seconds=1.0)
    assert not folder.is_done(cell(), 0)


@pytest.mark.parametrize("name", sorted(FREE_SETTINGS))
def test_a_cell_goes_on_under_other_settings_of_how_it_is_played(tmp_path, name):
    folder = begun(tmp_path, cell(settings=((name, 1),)))
    later = cell(settings=((name, 2),))
    folder.claim([later])
    assert folder.cells() == [later]


def test_a_policy_whose_folder_is_gone_keeps_what_it_played(tmp_path):
    folder = begun(tmp_path, cell(fingerprint="a"))
    folder.claim([cell(fingerprint="")])
    with pytest.raises(ValueError, match="had other files"):  # what came in its place did not play
        folder.claim([cell(fingerprint="b")])


ADDRESS = "https://ada:s3cret@host:8000/v1"
KEYED = (
    ("env_kwargs", '{"api_key": "s3cret", "retriever": "http://ada:s3cret@host/", "pages": 3}'),
)


def written_in(folder):
    """Return every name and every text under a folder, as one text."""
    files = [path for path in folder.rglob("*") if path.is_file()]
    return "\n".join([*map(str, folder.rglob("*")), *(path.read_text() for path in files)])


def test_a_sweeps_folder_holds_no_secret_and_a_resumed_sweep_finds_its_cells(tmp_path):
    secret = cell(policy=ADDRESS, settings=KEYED)
    folder = begun(tmp_path, secret)
    folder.note_call({"argv": ["--policy", ADDRESS], "env_kwargs": {"token": "s3cret"}})
    assert "s3cret" not in written_in(tmp_path)
    assert '\\"pages\\": 3' in written_in(tmp_path)
    folder.claim([secret])
    assert folder.missing(secret) == [1, 2]
    (found,) = folder.cells()
    assert (found.name, folder.missing(found)) == (secret.name, [1, 2])
    assert "s3cret" not in str(conditions(secret))


def test_another_password_is_no_other_cell_and_another_host_is(tmp_path):
    folder = begun(tmp_path, cell(policy=ADDRESS, settings=KEYED))
    changed = tuple((name, text.replace("s3cret", "new")) for name, text in KEYED)
    folder.claim([cell(policy=ADDRESS.replace("s3cret", "new"), settings=changed)])
    assert len(folder.cells()) == 1
    assert cell(policy=ADDRESS).name != cell(policy=ADDRESS.replace("host", "other")).name


@pytest.mark.parametrize("text", ["[{},\nnot JSON]", "{}", "[3]", "\x00"])
def test_a_record_of_calls_that_cannot_be_read_is_named_with_its_remedy(tmp_path, text):
    folder = begun(tmp_path, cell())
    file = tmp_path / "sweep.json"
    file.write_text(text)
    with pytest.raises(ValueError, match="sweep.json must be a JSON list.*move it away"):
        folder.note_call({})
    assert file.read_text() == text
