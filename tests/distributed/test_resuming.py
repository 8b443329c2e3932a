"""What was killed continues: stores and passes of a fit give the same bits, and are refused where they do not fit."""

import os
from pathlib import Path

import dask.array as da
import numpy as np
import pytest
from sklearn.base import clone

from lopsided import KernelSVD, Nystrom
from lopsided.distributed import checkpoint, open_store
from lopsided.io import load, save

ROWS, HEIGHT = 1200, 100


def rows(seed=0):
    return da.from_array(np.random.default_rng(seed).standard_normal((ROWS, 4)), chunks=(HEIGHT, 4))


def model(n_components=3, seed=0):
    return KernelSVD(n_components, kernel="rbf", solver=Nystrom(50), random_state=seed)


@pytest.fixture(scope="module")
def fitted():
    return model().fit(rows(), Z=rows())


def same(found, expected):
    return np.array_equal(np.asarray(found), np.asarray(expected))


def files(folder):
    return {path.name: path.read_bytes() for path in Path(folder).rglob("*") if path.is_file()}


def test_a_store_holds_what_transform_gives(fitted, tmp_path, scheduler):
    written = fitted.transform(rows(), out=tmp_path / "out")
    expected = fitted.transform(rows()).compute()
    assert same(written, expected) and same(open_store(tmp_path / "out"), expected)
    assert same(np.concatenate([np.load(tmp_path / "out" / f"{i}.npy") for i in range(12)]), expected)


def test_only_missing_and_damaged_blocks_are_computed_again(fitted, tmp_path):
    folder = tmp_path / "out"
    fitted.transform(rows(), out=folder)
    before = files(folder)
    kept = (folder / "3.npy").stat().st_mtime_ns
    (folder / "5.npy").unlink()
    (folder / "7.npy").write_bytes(before["7.npy"][:200])
    (folder / f"8.npy.{'0123' * 8}.part").write_bytes(b"cut short")
    with pytest.raises(ValueError, match="10 of 12 blocks are there, and block 5 is missing"):
        open_store(folder)
    fitted.transform(rows(), out=folder)
    assert files(folder) == before
    assert (folder / "3.npy").stat().st_mtime_ns == kept


def test_a_store_of_other_settings_or_data_is_refused(fitted, tmp_path):
    folder = tmp_path / "out"
    fitted.transform(rows(), out=folder)
    before = files(folder)
    other = model(seed=1).fit(rows(), Z=rows())
    with pytest.raises(ValueError, match="the settings, the landmarks or the data differ"):
        other.transform(rows(), out=folder)
    with pytest.raises(ValueError, match="the settings, the landmarks or the data differ"):
        fitted.transform(rows(seed=5), out=folder)
    with pytest.raises(ValueError, match="heights of the rows differ"):
        fitted.transform(rows().rechunk((150, 4)), out=folder)
    with pytest.raises(ValueError, match="differ"):
        model(2).fit(rows(), Z=rows()).transform(rows(), out=folder)
    assert files(folder) == before


def test_a_kill_while_the_first_manifest_is_written_leaves_a_folder_that_can_be_used(fitted, tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / f"manifest.json.{'0123' * 8}.part").write_text('{"kind"')
    assert same(fitted.transform(rows(), out=tmp_path / "out"), fitted.transform(rows()))
    assert not list((tmp_path / "out").glob("*.part"))


def test_what_is_no_store_is_not_overwritten(fitted, tmp_path):
    (tmp_path / "thesis.tex").write_text("three years of work")
    with pytest.raises(ValueError, match="is not a store of row blocks"):
        fitted.transform(rows(), out=tmp_path)
    with pytest.raises(ValueError, match="is not a store of row blocks"):
        fitted.transform(rows(), out=tmp_path / "thesis.tex")
    with pytest.raises(ValueError, match=r"has no manifest.json"):
        open_store(tmp_path)
    (tmp_path / "half").mkdir()
    (tmp_path / "half" / "manifest.json").write_text('{"kind": "lopsi')
    with pytest.raises(ValueError, match="manifest.json is damaged"):
        fitted.transform(rows(), out=tmp_path / "half")
    with pytest.raises(ValueError, match="name a folder without .zarr"):
        fitted.transform(rows(), out=tmp_path / "out.zarr")
    assert (tmp_path / "thesis.tex").read_text() == "three years of work"


def test_a_full_disk_is_named_before_and_during_the_work(fitted, tmp_path, monkeypatch):
    full = type("Usage", (), {"free": 100})
    with (
        monkeypatch.context() as patch,
        pytest.raises(OSError, match="12 blocks need 28800 bytes, but only 100 are free"),
    ):
        patch.setattr("lopsided.distributed.store.shutil.disk_usage", lambda path: full)
        fitted.transform(rows(), out=tmp_path / "out")
    saved = np.save

    def fails_later(file, block, **options):
        if "9.npy" in file.name:
            raise OSError(28, "No space left on device")
        saved(file, block, **options)

    with monkeypatch.context() as patch, pytest.raises(OSError, match="complete blocks are kept"):
        patch.setattr("lopsided.distributed.store.np.save", fails_later)
        fitted.transform(rows(), out=tmp_path / "out")
    assert not list((tmp_path / "out").glob("9.npy*.part"))
    assert same(fitted.transform(rows(), out=tmp_path / "out"), fitted.transform(rows()))


def test_a_checkpoint_does_not_change_the_answer_and_saves_the_passes(tmp_path, monkeypatch):
    expected = model().fit(rows(), Z=rows(seed=3))
    for _ in range(2):
        with checkpoint(tmp_path):
            found = model().fit(rows(), Z=rows(seed=3))
        assert same(found.singular_values_, expected.singular_values_)
        assert same(found.left_vectors_, expected.left_vectors_)
        monkeypatch.setattr("lopsided.operators.by_blocks._Product.__call__", lambda *_: pytest.fail("computed again"))


def test_a_checkpoint_of_other_data_or_settings_begins_anew(tmp_path):
    with checkpoint(tmp_path):
        model().fit(rows(), Z=rows())
        for data, settings in ((rows(seed=7), {}), (rows(), {"seed": 2}), (rows(), {"n_components": 2})):
            found = model(**settings).fit(data, Z=data)
            expected = KernelSVD(**model(**settings).get_params(deep=False)).fit(data.compute(), Z=data.compute())
            np.testing.assert_allclose(found.singular_values_, expected.singular_values_, rtol=1e-10)


def test_a_model_with_lazy_vectors_is_saved_without_them(fitted, tmp_path):
    model, path = clone(fitted).fit(rows(), Z=rows()), tmp_path / "model.lopsided"
    with pytest.raises(TypeError, match=r"KernelSVD.left_vectors_ is lazy .* model.left_vectors_ = None"):
        save(model, path)
    model.left_vectors_ = model.right_vectors_ = None
    save(model, path)
    assert same(load(path).transform(rows()), fitted.transform(rows()))
    model.left_vectors_ = model.right_vectors_ = fitted.left_vectors_.compute()
    save(model, path)
    assert same(load(path).left_vectors_, fitted.left_vectors_)


def leave_once(block, flag):
    """End the worker process, the first time that a block is read."""
    try:
        os.close(os.open(flag, os.O_CREAT | os.O_EXCL))
    except FileExistsError:
        return block
    os._exit(1)


@pytest.mark.filterwarnings("ignore")  # dask tells of the worker that left
def test_a_worker_that_dies_changes_nothing(tmp_path, client):
    expected = model().fit(rows(), Z=rows())
    X = rows().map_blocks(leave_once, flag=str(tmp_path / "left"), meta=np.empty((0, 0)))
    found = model().fit(X, Z=X)
    assert (tmp_path / "left").exists()
    assert same(found.singular_values_, expected.singular_values_)
    assert same(found.transform(X), expected.transform(rows()))
