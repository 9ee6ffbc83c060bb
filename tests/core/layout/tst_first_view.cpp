#include <QTest>

#include "core/document/document.h"
#include "core/layout/first_view.h"
#include "tests/core/layout/composer.h"

namespace tst_first_view {

using namespace layout_test;

// What of a model is open when it is seen for the first time.

class TestFirstView : public QObject {
    Q_OBJECT

  private slots:
    void levelsOpenAsFarAsTheRoomGoes();
    void aFewBoxesAreNoFirstView();
    void aSmallGraphIsOpenedWhole();
    void whatCannotBeReadStaysClosed();

  private:
    static FirstView first(Composer& compose, Size room, double minScale = 0.5) {
        auto found = composeFirstView(compose.outline, compose.view, {room, minScale}, compose.options, compose.workers,
                                      compose.cache);
        if (!found) qFatal("%s", found.error().text().c_str());
        return std::move(found).value();
    }
    static ViewState openTo(const Composer& compose, std::size_t depth) {
        ViewState view = compose.view;
        openToDepth(compose.outline, view, depth);
        return view;
    }
    static Size sizeAt(Composer& compose, std::size_t depth) {
        const ViewState before = std::exchange(compose.view, openTo(compose, depth));
        const Size size = compose()->bounds.size();
        compose.view = before;
        return size;
    }
};

void TestFirstView::levelsOpenAsFarAsTheRoomGoes() {
    Composer compose(lg::transformer(12));
    compose.view.foldFrom = 3;
    const std::size_t deepest = greatestDepth(compose.outline);
    QVERIFY(deepest >= 3);
    Size largest{0, 0};
    for (std::size_t depth = 1; depth <= deepest; ++depth) {
        const Size exact = sizeAt(compose, depth);
        if (exact.width * exact.height <= largest.width * largest.height) continue;  // nothing is open at this depth
        largest = {std::max(largest.width, exact.width), std::max(largest.height, exact.height)};
        // Just room enough at half size, and at a quarter.
        for (const double scale : {0.5, 0.25}) {
            const FirstView found = first(compose, {largest.width * scale, largest.height * scale}, scale);
            QVERIFY(found.view.openScopes.size() >= openTo(compose, depth).openScopes.size());
            QVERIFY(found.scene->bounds.width <= largest.width && found.scene->bounds.height <= largest.height);
        }
    }
    QCOMPARE(first(compose, {1e6, 1e6}).view, openTo(compose, deepest));
}

void TestFirstView::aFewBoxesAreNoFirstView() {
    const auto document = sonde::document::open("zoo:gpt2?layers=4&dim=48&heads=4&vocab=100&positions=70");
    QVERIFY(document);
    Composer compose((*document)->graph);
    compose.view.foldFrom = 2;
    const Size closed = sizeAt(compose, 0), open = sizeAt(compose, 1);
    QVERIFY(closed.height < open.height);
    // One level is opened although it is higher than the room, and no more.
    QCOMPARE(first(compose, {open.width, (open.height + closed.height) / 2}, 1).view, openTo(compose, 1));
}

void TestFirstView::aSmallGraphIsOpenedWhole() {
    const auto document = sonde::document::open("zoo:blocks_net");
    QVERIFY(document);
    Composer compose((*document)->graph);
    const FirstView found = first(compose, {10, 10});
    QCOMPARE(found.view, openTo(compose, greatestDepth(compose.outline)));
    QVERIFY(!found.view.openScopes.empty());
}

void TestFirstView::whatCannotBeReadStaysClosed() {
    Composer compose(lg::transformer(12));
    compose.view.foldFrom = 3;
    const Size closed = sizeAt(compose, 0);
    const FirstView found = first(compose, {closed.width / 3, closed.height / 3});
    QCOMPARE(found.view, compose.view);
    QCOMPARE(found.scene->bounds.size(), closed);
    // However large the room: hundreds of boxes are not read. Unfolded there are twelve blocks of 32 operations.
    compose.view.foldFrom = 0;
    const FirstView unfolded = first(compose, {1e6, 1e6});
    QVERIFY(unfolded.view != openTo(compose, greatestDepth(compose.outline)));
    QVERIFY(unfolded.scene->items.size() < 12 * 32);
}

QTEST_GUILESS_MAIN(TestFirstView)

}  // namespace tst_first_view

#include "tst_first_view.moc"
