import pytest
from playwright.sync_api import expect


@pytest.mark.parametrize("width", [1280, 390])
def test_a_report_works_from_disk(width, report, open_page):
    page = open_page(report, viewport={"width": width, "height": 844}, offline=True)
    page.locator(".bubble").first.click()
    expect(page.locator("img.cloud")).to_be_visible()
    expect(page.locator("img.cloud")).to_have_js_property("complete", True)
    page.locator(".document h3 a").first.click()
    expect(page.locator(".text mark").first).to_be_visible()
    page.locator(".mixture button").first.click()
    expect(page.locator("mark.chosen").first).to_be_visible()
    page.go_back()
    page.go_back()
    expect(page.locator(".bubble").first).to_be_visible()


def test_its_words_are_ranked_by_the_slider(report, open_page, collection):
    page = open_page(f"{report}#/topic/1", offline=True)
    words = page.locator(".words-list a")
    own = words.all_inner_texts()
    assert own == [word for word, _ in collection.topic_view(1).words]
    page.get_by_role("slider").press("End")
    frequent = max(collection.topic(1).frequencies, key=lambda word: word[1])
    expect(words.first).to_have_text(frequent[0])
    page.get_by_role("button", name="Model’s ranking").click()
    assert words.all_inner_texts() == own


def test_its_documents_are_searched_and_compared(report, open_page):
    page = open_page(report, offline=True)
    page.get_by_role("searchbox", name="Search documents").fill("comet")
    page.keyboard.press("Enter")
    expect(page.locator(".document").first).to_be_visible()
    page.goto(f"{report}#/compare/3/5")
    expect(page.locator("h2").first).to_contain_text("in common")


def test_odd_texts_are_shown_as_they_are(report, open_page, odd, collection):
    page = open_page(f"{report}#/document/{odd['script']}", offline=True)
    expect(page.locator(".text")).to_have_text(collection.documents[odd["script"]].text)
    assert page.evaluate("window.broken") is None


def test_it_can_be_read_without_scripts(report, browser):
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(report)
    expect(page.locator("noscript ol li, main ol li").first).to_be_visible()
    context.close()
