import pytest
from axe_playwright_python.sync_playwright import Axe

PAGES = {
    "topics": "#/",
    "topic": "#/topic/1",
    "topic by frequency": "#/topic/1?balance=1",
    "null topic": "#/topic/0",
    "document": "#/document/3",
    "documents": "#/search?q=rain",
    "text": "#/paste?text=The+orchestra+played+while+farmers+waited+for+rain",
    "compare": "#/compare/3/5",
    "api": "api",
}
RULES = {"runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]}


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", PAGES)
def test_pages_have_no_accessibility_findings(name, scheme, address, open_page):
    page = open_page(address + PAGES[name], color_scheme=scheme, reduced_motion="reduce")
    page.wait_for_timeout(200)
    assert findings(page) == []


def test_a_report_on_a_phone_has_none_either(report, open_page):
    page = open_page(report, viewport={"width": 390, "height": 844})
    page.wait_for_timeout(200)
    assert findings(page) == []


def findings(page):
    found = Axe().run(page, options=RULES).response["violations"]
    return [
        f"{each['impact']}: {each['id']}: {node['html'][:200]} {node.get('failureSummary', '')}"
        for each in found
        for node in each["nodes"][:3]
    ]
