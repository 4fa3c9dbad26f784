import re
import time

import pytest
from playwright.sync_api import expect

from topicvec import datasets

SIZES = pytest.mark.parametrize("size", [(1280, 860), (390, 844)], ids=["desk", "phone"])


def until(holds, seconds=10):
    """Wait for a fact; the page's own policy forbids to wait inside it."""
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.02)


def sized(size):
    return {"viewport": {"width": size[0], "height": size[1]}, "has_touch": size[0] < 500}


@SIZES
def test_one_walks_from_the_map_to_a_topic_to_a_document_and_back(size, address, open_page):
    page = open_page(address, **sized(size))
    expect(page.locator(".bubble")).to_have_count(15)
    page.locator(".bubble").first.click()
    expect(page.locator("h2", has_text="Similar topics")).to_be_visible()
    topic = page.locator("h1").inner_text()
    page.locator(".document h3 a").first.click()
    expect(page.locator(".text mark").first).to_be_visible()
    page.go_back()
    expect(page.locator("h1")).to_have_text(topic)
    page.go_back()
    expect(page.locator(".bubble").first).to_be_visible()


@SIZES
def test_nothing_is_wider_than_the_screen(size, address, open_page):
    page = open_page(address, **sized(size))
    long = "w" * 3000
    for path in ("#/", "#/topic/1", "#/document/3", "#/search?q=rain", "#/compare/3/5", "#/paste"):
        page.goto(address + path)
        page.wait_for_selector("h1")
        if path == "#/paste":
            page.fill("textarea", f"rain {long}")
            page.wait_for_selector(".text")
        page.wait_for_timeout(100)
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), path


def test_topics_are_filtered_by_word(address, open_page):
    page = open_page(address)
    page.get_by_label("Filter topics by word").fill("telescope")
    expect(page.locator(".topics li")).to_have_count(1)
    expect(page.locator(".topics .hit").first).to_have_text("telescope")
    again = open_page(page.url)
    expect(again.locator(".topics li")).to_have_count(1)
    page.get_by_label("Filter topics by word").fill("qqqq")
    expect(page.locator(".topics")).to_contain_text("No topic has such a word")


@SIZES
def test_a_pasted_text_shows_its_topics_at_once(size, address, open_page):
    page = open_page(f"{address}#/paste", **sized(size))
    page.fill("textarea", "The orchestra played while the farmers waited for rain.")
    expect(page.locator(".text mark", has_text="orchestra")).to_be_visible()
    assert page.locator(".mixture li").count() >= 2
    expect(page.locator(".documents li").first).to_be_visible()
    page.fill("textarea", "qqqzzz")
    expect(page.locator(".view-paste")).to_contain_text("No word of this text is known")


def test_a_link_to_a_pasted_text_can_be_shared(address, open_page):
    page = open_page(f"{address}#/paste")
    page.fill("textarea", "Comets & <planets> 100% ?#")
    expect(page.locator(".text mark").first).to_be_visible()
    other = open_page(page.url)
    expect(other.locator("textarea")).to_have_value("Comets & <planets> 100% ?#")
    expect(other.locator(".text")).to_have_text("Comets & <planets> 100% ?#")


def test_the_last_of_quickly_typed_texts_is_shown(address, open_page):
    page = open_page(f"{address}#/paste")
    page.locator("textarea").press_sequentially("comets and planets and stars", delay=20)
    expect(page.locator(".text")).to_have_text("comets and planets and stars")


@SIZES
def test_documents_are_searched(size, address, open_page):
    page = open_page(address, **sized(size))
    page.get_by_role("searchbox", name="Search documents").fill("telescopes and comets")
    page.keyboard.press("Enter")
    expect(page.locator(".document .facts").first).to_contain_text("astronomy")
    expect(page.locator(".document")).to_have_count(20)
    page.get_by_role("button", name="Show more").click()
    expect(page.locator(".document")).to_have_count(40)
    page.get_by_label("Class").select_option("music")
    expect(page.locator(".document .facts").first).to_contain_text("music")
    assert "label=music" in page.url


def test_the_words_of_one_topic_are_singled_out_and_the_link_says_so(address, open_page):
    page = open_page(f"{address}#/document/3")
    button = page.locator(".mixture button").first
    topic = button.get_attribute("data-topic")
    button.click()
    expect(button).to_have_attribute("aria-pressed", "true")
    assert f"topic={topic}" in page.url
    other = open_page(page.url)
    expect(other.locator(f'.mixture button[data-topic="{topic}"]')).to_have_attribute(
        "aria-pressed", "true"
    )
    chosen = other.locator("mark.chosen")
    assert chosen.count() == other.locator(f'mark[data-topic="{topic}"]').count() > 0
    other.locator(".mixture button").first.click()
    expect(chosen).to_have_count(0)


def listed(page):
    return page.locator(".words-list a").all_inner_texts()


def test_words_are_ranked_from_telling_to_frequent_by_keyboard(address, open_page, collection):
    page = open_page(f"{address}#/topic/1")
    own = [word for word, _ in collection.topic_view(1).words]
    assert listed(page) == own
    slider = page.get_by_role("slider", name="Telling or frequent first")
    expect(slider).to_have_attribute("aria-valuetext", "as the model ranks them")
    slider.focus()
    page.keyboard.press("End")
    assert listed(page) == ranked(collection, 1.0)
    assert page.url.endswith("?balance=1")
    page.keyboard.press("Home")
    assert listed(page) == ranked(collection, 0.0)
    for _ in range(6):
        page.keyboard.press("ArrowRight")
    assert listed(page) == ranked(collection, 0.3)
    expect(page.locator("#status")).to_contain_text(f"First words: {ranked(collection, 0.3)[0]}")
    other = open_page(page.url)
    assert listed(other) == ranked(collection, 0.3)
    page.get_by_role("button", name="Model’s ranking").click()
    assert listed(page) == own
    assert "balance" not in page.url
    expect(slider).to_be_focused()


def ranked(collection, balance):
    def relevance(word):
        return balance * word[1] + (1 - balance) * word[2], word[1]

    words = sorted(collection.topic(1).frequencies, key=relevance, reverse=True)
    return [word for word, _, _ in words[:30]]


def test_a_wrong_position_in_an_address_is_the_models_own_ranking(address, open_page, collection):
    page = open_page(f"{address}#/topic/1?balance=often")
    assert listed(page) == [word for word, _ in collection.topic_view(1).words]


def test_two_documents_are_compared(address, open_page):
    page = open_page(f"{address}#/document/3")
    page.locator(".actions a", has_text="Compare").click()
    second = page.get_by_label("Find the second document")
    second.fill("violins")
    second.press("Enter")
    page.locator(".results .document h3 a").first.click()
    expect(page.locator("h2").first).to_contain_text("in common")
    expect(page.locator(".text")).to_have_count(2)
    assert re.search(r"#/compare/3/\d+$", page.url)
    page.locator(".butterfly button").first.click()
    expect(page.locator("mark.chosen").first).to_be_visible()


def test_a_link_is_copied(address, open_page):
    page = open_page(f"{address}#/topic/1", permissions=["clipboard-read", "clipboard-write"])
    page.get_by_role("button", name="Copy link").click()
    expect(page.get_by_role("button", name="Link copied")).to_be_visible()
    assert page.evaluate("navigator.clipboard.readText()") == f"{address}#/topic/1"


def test_the_theme_is_chosen_and_remembered(address, open_page):
    page = open_page(address, color_scheme="light")
    ground = "getComputedStyle(document.body).backgroundColor"
    light = page.evaluate(ground)
    for _ in range(2):
        page.locator(".theme").click()
    dark = page.evaluate(ground)
    assert dark != light
    page.reload()
    page.wait_for_selector("h1")
    assert page.evaluate(ground) == dark
    assert open_page(address, color_scheme="dark").evaluate(ground) == dark


def test_everything_is_reached_by_keyboard(address, open_page):
    page = open_page(address)
    page.keyboard.press("Tab")
    expect(page.locator(".skip")).to_be_focused()
    page.locator(".bubble").first.focus()
    before = page.evaluate("document.activeElement.getAttribute('href')")
    for key in ("ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown"):
        page.keyboard.press(key)
    assert page.locator(".bubble:focus").count() == 1
    expect(page.locator(".map-card")).to_be_visible()
    page.keyboard.press("Enter")
    expect(page.locator("h1")).to_be_focused()
    assert before
    assert "#/topic/" in page.url


def test_going_back_returns_to_the_same_place(address, open_page):
    page = open_page(f"{address}#/search")
    page.locator(".document").nth(15).scroll_into_view_if_needed()
    page.wait_for_timeout(100)
    before = page.evaluate("scrollY")
    assert before > 500
    page.locator(".document h3 a").nth(15).click()
    expect(page.locator(".text")).to_be_visible()
    assert page.evaluate("scrollY") == 0
    page.go_back()
    expect(page.locator(".document").first).to_be_attached()
    until(lambda: abs(page.evaluate("scrollY") - before) < 150)


@pytest.mark.parametrize("name", ["script", "emoji", "arabic"])
def test_odd_texts_are_shown_as_they_are(name, address, open_page, odd, collection):
    page = open_page(f"{address}#/document/{odd[name]}")
    expect(page.locator(".text")).to_have_text(collection.documents[odd[name]].text)
    assert page.evaluate("window.broken") is None
    assert page.locator("main script, main img[src=x]").count() == 0
    assert page.locator(".wordmark + .title").inner_text() == "A <i>small</i> corpus"


def test_right_to_left_text_runs_so(address, open_page, odd):
    page = open_page(f"{address}#/document/{odd['arabic']}")
    direction = "getComputedStyle(document.querySelector('.text')).direction"
    assert page.evaluate(direction) == "rtl"
    page.goto(f"{address}#/document/3")
    expect(page.locator(".crumbs")).to_contain_text("4")
    assert page.evaluate(direction) == "ltr"


def test_a_long_document_is_shown_in_parts(address, open_page, odd):
    page = open_page(f"{address}#/document/{odd['long']}")
    length = "document.querySelector('.text').textContent.length"
    first = page.evaluate(length)
    assert first < 21_000
    page.get_by_role("button", name="Show more of the text").click()
    until(lambda: page.evaluate(length) > first + 15_000)
    expect(page.get_by_role("button", name="Show more of the text")).to_have_count(1)


def test_a_long_text_can_be_pasted(address, open_page):
    page = open_page(f"{address}#/paste")
    page.evaluate(
        """text => { const field = document.querySelector('textarea');
        field.value = text; field.dispatchEvent(new Event('input', {bubbles: true})); }""",
        "The orchestra played music. Rain fell on the sea. " * 20_000,
    )
    expect(page.locator(".view-paste")).to_contain_text(
        "Only the beginning is shown", timeout=60_000
    )
    assert len(page.url) < 200


def test_a_wrong_address_is_told_so(browser, address):
    page = browser.new_page()
    for path, expected in (
        ("#/document/99999", "no document"), ("#/topic/77", "no topic"), ("#/none", "No such page"),
        ("#/document/%E0%A4%A", "must be"),
    ):  # fmt: skip
        page.goto(address + path)
        expect(page.locator("main")).to_contain_text(expected)
        page.get_by_role("link", name="To the topics").click()
        expect(page.locator(".bubble").first).to_be_visible()
    page.close()


def test_the_page_of_the_api_tries_a_question(address, open_page):
    page = open_page(f"{address}api")
    form = page.get_by_role("form", name="Try get /api/documents/{document}", exact=True)
    form.get_by_role("button", name="Try").click()
    expect(page.locator("pre")).to_contain_text('"similar"')
    expect(page.locator(".record").first).to_be_visible()


def test_all_documents_can_be_listed(address, open_page, odd):
    page = open_page(f"{address}#/search")
    n_all = len(datasets.sample_corpus()) + len(odd)
    expect(page.locator(".lead")).to_have_text(f"{n_all} documents")
