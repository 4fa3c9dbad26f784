"""Vectors of words that have none: from spelling, parts and neighbours."""

import subprocess
import sys
import time

import numpy as np
import pytest

from topicvec import WordVectors, load_vectors
from topicvec.embed import newwords
from topicvec.embed.newwords import new_word_vectors
from topicvec.embed.spelling import letter_groups, spelled, spelling_table
from topicvec.engine import LocalEngine
from topicvec.errors import DataError
from topicvec.text.numbered import number_tokens
from topicvec.text.prepared import Tokens

TEXT = """
price daraprim drug treats toxoplasmosis rose tablet dollars company run hedge_fund manager martin
shkreli bought medicine doctors treat infections patients pay daraprim hospitals therapies shkreli
defended increase company profit treatments disease shkreli patients afford daraprim chief
executive founded drug company board dismissed sued investors hedge_fund lost money lawyers
shkreli paid shares daraprim chemists approved patent expired generic manufacturer prescriptions
"""
ARTICLE = [word.replace("_", " ") for word in TEXT.split()]


def cosine(a: np.ndarray, b: np.ndarray) -> float:
    return float(a @ b / np.linalg.norm(a) / np.linalg.norm(b))


def toy(**metadata: str) -> WordVectors:
    matrix = [[2, 0, 0], [1, 0, 0], [0, 2, 0], [0, 1, 0], [0, 0, 2]]
    return WordVectors(["drug", "pill", "fund", "bank", "road"], matrix, [5, 4, 3, 2, 1], metadata)


def test_the_groups_of_a_word_are_the_same_in_every_process() -> None:
    code = "from topicvec.embed.spelling import letter_groups; print(letter_groups('naïve'))"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == str(letter_groups("naïve"))


def test_the_table_of_spelling_fits_the_embedded_vectors() -> None:
    vectors, table = load_vectors(), spelling_table()
    assert vectors.metadata["spelling"] == table.name
    assert table.directions.shape[1] == vectors.n_dims
    assert (np.diff(table.groups.astype(np.int64)) > 0).all()


def test_spelling_leads_to_words_of_the_same_stem() -> None:
    vectors = load_vectors()
    words = ["unphotographable", "shakespearesque", "hepatotoxicities"]
    assert not any(word in vectors for word in words)
    near = [{word for word, _ in vectors.nearest(each, 10)} for each in spelled(words)]
    stems = ["photo", "shakes", "hepat"]
    assert all(any(w.startswith(s) for w in each) for each, s in zip(near, stems, strict=True))


def test_spelled_vectors_are_as_long_as_those_of_rare_words() -> None:
    vectors = load_vectors()
    rare = np.linalg.norm(vectors.matrix[-20_000:], axis=1).mean()
    lengths = np.linalg.norm(spelled(["blorptastic", "zzzz", "köln-deutz"]), axis=1)
    assert np.allclose(lengths, rare, rtol=0.2)


def test_one_text_instead_of_a_list_of_words_is_refused() -> None:
    with pytest.raises(DataError, match="put it in"):
        spelled("word")
    with pytest.raises(DataError, match="put it in"):
        new_word_vectors(toy(), "word", [])


def test_a_word_that_has_a_vector_is_not_new() -> None:
    with pytest.raises(DataError, match="'drug', which has one"):
        new_word_vectors(toy(), ["cure", "drug"], [["drug", "cure"]])


def test_new_words_stand_near_their_neighbours() -> None:
    texts = [["drug", "cure", "pill"], ["bank", "loan", "fund"], ["road"] * 9]
    cure, loan = new_word_vectors(toy(), ["cure", "loan"], texts)
    assert cosine(cure, toy()["drug"]) > 0.5 > 0 > cosine(cure, toy()["bank"])
    assert cosine(loan, toy()["bank"]) > 0.5 > 0 > cosine(loan, toy()["drug"])


def test_neighbours_in_another_text_do_not_count() -> None:
    alone = new_word_vectors(toy(), ["cure"], [["drug", "cure"]])
    beside = new_word_vectors(toy(), ["cure"], [["road"], ["drug", "cure"], ["road"]])
    assert np.array_equal(alone, beside)


def test_a_word_of_which_nothing_is_known_has_zeros() -> None:
    assert not new_word_vectors(toy(), ["cure"], [["cure"], []]).any()


def test_no_words_give_no_vectors() -> None:
    assert new_word_vectors(toy(), [], [["drug"]]).shape == (0, 3)


def test_a_phrase_is_expected_where_its_parts_are() -> None:
    vectors = load_vectors()
    phrase = new_word_vectors(vectors, ["hedge fund"], [])[0]
    assert cosine(phrase, vectors["fund"]) > 0.4
    assert cosine(phrase, vectors["hedge"]) > 0.4


def test_only_vectors_of_its_own_space_are_told_from_spelling() -> None:
    stranger = toy(spelling="another")
    assert not new_word_vectors(stranger, ["drugs"], []).any()
    half = load_vectors().subset(50_000)
    assert new_word_vectors(half, ["drugsies"], []).any()


def test_names_of_an_article_stand_among_its_subjects() -> None:
    vectors = load_vectors()
    names = ["daraprim", "shkreli", "hedge fund"]
    found = new_word_vectors(vectors, names, [ARTICLE])
    drug, business = (
        np.mean([vectors[w] / np.linalg.norm(vectors[w]) for w in words.split()], axis=0)
        for words in ("drug medicine treatment patients", "investors company shares executive")
    )
    assert cosine(found[0], drug) > cosine(found[0], business)
    assert cosine(found[2], business) > cosine(found[2], drug)
    assert cosine(found[1], vectors["company"]) > 0.1


def test_the_more_often_a_word_is_seen_the_longer_is_its_vector() -> None:
    vectors = load_vectors()
    snippets = [["doctors", "flumox", "treat"]]
    few, many = (new_word_vectors(vectors, ["flumox"], snippets * n)[0] for n in (1, 2_000))
    lengths = np.linalg.norm(vectors.matrix, axis=1)
    assert np.isclose(np.linalg.norm(few), lengths[-5_000:].mean(), rtol=0.1)
    assert np.linalg.norm(few) < np.linalg.norm(many) < lengths.max()


def test_the_same_texts_give_the_same_bits() -> None:
    vectors = load_vectors()
    names = ["daraprim", "shkreli", "hedge fund"]
    once, again = (new_word_vectors(vectors, names, [ARTICLE]) for _ in range(2))
    assert np.array_equal(once, again)


def test_hidden_words_come_back_from_neighbours_nearer_than_by_chance() -> None:
    vectors = load_vectors()
    hidden = ["medicine", "football", "violin"]
    general = vectors.subset([w for w in vectors.words[:30_000] if w not in hidden])
    texts = [
        ["doctor", "studied", "medicine", "hospital", "university", "patients"],
        ["players", "club", "football", "league", "match", "goal"],
        ["concerto", "piano", "violin", "orchestra", "cello", "played"],
    ]
    found = new_word_vectors(general, hidden, texts)
    similar = [[cosine(each, vectors[w]) for w in hidden] for each in found]
    assert np.argmax(similar, axis=1).tolist() == [0, 1, 2]


def test_an_article_takes_little_time_and_no_heavy_import() -> None:
    code = (
        "import sys; from topicvec.embed.newwords import new_word_vectors as f;"
        "from topicvec.embed.load import load_vectors; v = load_vectors(); v.ids;"
        "f(v, ['daraprim'], [['drug', 'daraprim']]);"
        "assert not {'numba', 'sklearn'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
    vectors = load_vectors()
    new_word_vectors(vectors, ["daraprim"], [ARTICLE])
    start = time.process_time()
    new_word_vectors(vectors, ["daraprim", "shkreli", "hedge fund"], [ARTICLE * 5])
    assert time.process_time() - start < 0.25  # 0.03 on a quiet machine


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_texts_in_numbers_and_in_blocks_give_the_vectors_of_lists_of_words(
    monkeypatch: pytest.MonkeyPatch, n_jobs: int
) -> None:
    monkeypatch.setattr(newwords, "_ROWS", 2)
    monkeypatch.setattr(newwords, "_RANGES", 3)
    vectors, rng = load_vectors(), np.random.default_rng(0)
    texts = [rng.choice(ARTICLE, 30).tolist() for _ in range(40)] + [[]]
    new = ["daraprim", "shkreli", "toxoplasmosis", "hedge fund", "nowhere seen"]
    new = [word for word in new if word not in vectors]
    told = number_tokens(texts)
    ids, lengths = told.blocks[0].take()
    half = int(lengths[:20].sum())
    halves = [Tokens(ids[:half], lengths[:20]), Tokens(ids[half:], lengths[20:])]
    engine = LocalEngine(n_jobs)
    found = new_word_vectors(vectors, new, told._replace(blocks=halves), engine=engine)
    assert len(new) > 3
    np.testing.assert_allclose(found, new_word_vectors(vectors, new, texts), atol=1e-4)
    np.testing.assert_array_equal(found, new_word_vectors(vectors, new, told))


def test_a_frequent_neighbour_alone_is_weighed_the_same_in_numbers() -> None:
    general = WordVectors(["the", "drug"], [[2.0, 0.0], [1.0, 2.0]], [99, 1])
    texts = [["zq", "the"], ["drug"]]
    found = new_word_vectors(general, ["zq"], number_tokens(texts))
    np.testing.assert_allclose(found, new_word_vectors(general, ["zq"], texts), rtol=1e-5)
    assert np.abs(found).max() > 0.1


def test_the_more_neighbours_the_less_the_parts_of_a_phrase_say() -> None:
    parts = new_word_vectors(toy(), ["drug road"], [])[0]
    leans = []
    for times in (1, 6, 60):  # among banks, of which no part speaks
        texts = [["fund", "drug road", "bank"]] * times
        vector = new_word_vectors(toy(), ["drug road"], texts)[0]
        along = vector @ parts / np.linalg.norm(parts)
        across = np.linalg.norm(vector - along * parts / np.linalg.norm(parts))
        leans.append(along / across)
    assert leans[0] > leans[1] > leans[2]
    # told = n / (n + n₀): direction = (1 − ρ·told)·parts + g·told·neighbours, by its definition
    units = toy().matrix / np.linalg.norm(toy().matrix, axis=1, keepdims=True)
    weight = newwords._weights(toy(), np.arange(5))
    centre = newwords._centre(toy())
    expected = weight[[0, 4]] @ (units[[0, 4]] - centre) / weight[[0, 4]].sum()
    beside = weight[[2, 3]] @ (units[[2, 3]] - centre) / weight[[2, 3]].sum()
    told = 6 / (6 + newwords.HALFWAY)
    wanted = expected * (1 - newwords.LESS_BEFORE * told) + newwords.FROM_NEIGHBOURS * told * beside
    found = new_word_vectors(toy(), ["drug road"], [["fund", "drug road", "bank"]] * 6)[0]
    assert cosine(found, wanted) == pytest.approx(1, abs=1e-5)
