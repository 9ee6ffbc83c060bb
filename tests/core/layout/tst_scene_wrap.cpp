#include <QTest>

#include <algorithm>
#include <set>

#include "core/document/document.h"
#include "core/layout/first_view.h"
#include "tests/core/layout/composer.h"
#include "tests/core/layout/scene_rules.h"

namespace tst_scene_wrap {

using namespace layout_test;

// Scenes whose flow is drawn in columns.

class TestSceneWrap : public QObject {
    Q_OBJECT

  private slots:
    void columnsKeepTheRules_data();
    void columnsKeepTheRules();
    void aChainFillsTheRoom();
    void jumpsNameWhatTheyJoin();
    void insidesAreColumnsToo();
    void whatCanBeReadStaysInOnePiece();
    void whatIsReadWithEaseInColumnsIsDrawnSo();
    void wrappingOffStaysOff();
    void longPicturesGetTheShapeOfAPage();
    void picturesThatCanBeReadOnAPageStay();
    void namesOfColumnsAreWithinTheirBox();

  private:
    static FirstView fitted(Composer& compose, Size room, double minScale = 0.5) {
        auto found = composeFitted(compose.outline, compose.view, {room, minScale}, compose.options, compose.workers,
                                   compose.cache);
        if (!found) qFatal("%s", found.error().text().c_str());
        return std::move(found).value();
    }
};

void TestSceneWrap::columnsKeepTheRules_data() {
    QTest::addColumn<int>("seed");
    for (int seed = 0; seed < 12; ++seed) QTest::addRow("%d", seed) << seed;
}

void TestSceneWrap::columnsKeepTheRules() {
    QFETCH(int, seed);
    Composer compose(lg::randomModules(30 + 12 * static_cast<std::size_t>(seed), static_cast<unsigned>(seed)));
    compose.view.direction = seed % 2 ? Direction::LeftRight : Direction::TopDown;
    openToDepth(compose.outline, compose.view, 99);
    const auto plain = compose();
    for (const double height : {400.0, 1000.0, 2500.0}) {
        compose.view.columnHeight = height;
        const auto scene = compose();
        QCOMPARE(brokenRule(*scene), std::string());
        QCOMPARE(scene->items.size(), plain->items.size());
        QCOMPARE(scene->edges.size(), plain->edges.size());
        for (const SceneJump& jump : scene->jumps) {
            QVERIFY(jump.from.valid() && jump.to.valid() && !jump.values.empty() && !jump.edges.empty());
            const auto around = [](Point p) { return Rect{p.x - 7, p.y - 7, 14, 14}; };
            const Path& path = scene->edges[jump.edges.front()].path;
            QVERIFY(passesThrough(path, around(jump.leaves)) && passesThrough(path, around(jump.arrives)));
        }
    }
}

void TestSceneWrap::aChainFillsTheRoom() {
    Composer compose(lg::flatChain(300));
    compose.view.wrapping = Wrapping::Automatic;
    const Size room{1000, 560};
    const auto plain = compose();
    const FirstView found = fitted(compose, room);
    QVERIFY(found.view.columnHeight > 0);
    QCOMPARE(brokenRule(*found.scene), std::string());
    const auto scaleOf = [&](const SceneLayout& scene) {
        return std::min(room.width / scene.bounds.width, room.height / scene.bounds.height);
    };
    // 300 cards of 90 × 36 in lines of about 40, with room between columns: an area of which a third is cards.
    QVERIFY2(scaleOf(*found.scene) > 10 * scaleOf(*plain), qPrintable(QString::number(scaleOf(*found.scene))));
    const double shape = found.scene->bounds.width / found.scene->bounds.height;
    QVERIFY2(shape > 1.2 && shape < 2.7, qPrintable(QString::number(shape)));
}

void TestSceneWrap::jumpsNameWhatTheyJoin() {
    Composer compose(lg::flatChain(40));
    compose.view.columnHeight = 800;
    const auto scene = compose();
    QVERIFY(!scene->jumps.empty());
    for (const SceneJump& jump : scene->jumps) {
        const SceneEdge& edge = scene->edges[jump.edges.front()];
        QVERIFY(jump.from == edge.from && jump.to == edge.to);
        QVERIFY(scene->item(jump.to).rect.x > scene->item(jump.from).rect.right());
        // Along the flow still one rank after the other, for the keys that walk.
        QCOMPARE(scene->item(jump.to).rank, scene->item(jump.from).rank + 1);
        QCOMPARE(neighbour(*scene, jump.from, Move::Forward), jump.to);
    }
}

void TestSceneWrap::insidesAreColumnsToo() {
    const auto document = sonde::document::open("zoo:resnet18");
    QVERIFY(document);
    Composer compose((*document)->graph);
    openToDepth(compose.outline, compose.view, 99);
    compose.view.columnHeight = 500;
    const auto scene = compose();
    QCOMPARE(brokenRule(*scene), std::string());
    std::set<std::uint32_t> boxes;
    for (const SceneJump& jump : scene->jumps) boxes.insert(scene->item(jump.from).parent.value);
    QVERIFY(boxes.size() > 1);  // at the top, and in boxes
    compose.view.direction = Direction::LeftRight;
    QCOMPARE(brokenRule(*compose()), std::string());
}

void TestSceneWrap::whatCanBeReadStaysInOnePiece() {
    Composer compose(lg::flatChain(12));
    compose.view.wrapping = Wrapping::Automatic;
    const auto plain = compose();
    const FirstView found = fitted(compose, {plain->bounds.width / 2 + 1, plain->bounds.height / 2 + 1});
    QCOMPARE(found.view, compose.view);
    QVERIFY(found.scene->jumps.empty());
    // And what was drawn in columns needs them no more in a larger room.
    compose.view.columnHeight = 200;
    QVERIFY(!compose()->jumps.empty());
    QCOMPARE(fitted(compose, {1e5, 1e5}).view.columnHeight, 0.0);
}

/// As fitted it could just be read, in columns with ease; a room in which the chain is easy to read has one.
void TestSceneWrap::whatIsReadWithEaseInColumnsIsDrawnSo() {
    Composer compose(lg::flatChain(12));
    compose.view.wrapping = Wrapping::Automatic;
    const Size plain = compose()->bounds.size();
    const auto first = [&](double scale, double ease) {
        const Size room{plain.width * 8 * scale, plain.height * scale};
        const auto found = composeFirstView(compose.outline, compose.view, {room, 0.5, ease}, compose.options,
                                            compose.workers, compose.cache);
        if (!found) qFatal("%s", found.error().text().c_str());
        return found->view.columnHeight;
    };
    QCOMPARE(first(0.55, 0), 0.0);
    QVERIFY(first(0.55, 0.8) > 0);
    QCOMPARE(first(0.85, 0.8), 0.0);
}

void TestSceneWrap::wrappingOffStaysOff() {
    Composer compose(lg::flatChain(300));
    compose.view.wrapping = Wrapping::Off;
    QCOMPARE(fitted(compose, {1000, 560}).view, compose.view);
    const auto first = composeFirstView(compose.outline, compose.view, {{1000, 560}, 0.1}, compose.options,
                                        compose.workers, compose.cache);
    QVERIFY(first);
    QCOMPARE(first->view.columnHeight, 0.0);
    compose.view.wrapping = Wrapping::Automatic;
    const auto again = composeFirstView(compose.outline, compose.view, {{1000, 560}, 0.1}, compose.options,
                                        compose.workers, compose.cache);
    QVERIFY(again);
    QVERIFY(again->view.columnHeight > 0);
}

void TestSceneWrap::longPicturesGetTheShapeOfAPage() {
    Composer compose(lg::flatChain(100));
    compose.view.wrapping = Wrapping::Automatic;
    const auto ratio = [&](const ViewState& view) {
        const auto found = composePicture(compose.outline, view, compose.options, compose.workers, compose.cache);
        if (!found) qFatal("%s", found.error().text().c_str());
        const Size size = found->scene->bounds.size();
        return std::max(size.width, size.height) / std::min(size.width, size.height);
    };
    QVERIFY(ratio(compose.view) < 3);
    compose.view.wrapping = Wrapping::Off;
    QVERIFY(ratio(compose.view) > 30);
    compose.view.wrapping = Wrapping::Automatic;
    compose.view.direction = Direction::LeftRight;
    QVERIFY(ratio(compose.view) < 3);
}

void TestSceneWrap::picturesThatCanBeReadOnAPageStay() {
    const auto picture = [](Composer& compose) {
        const auto found =
            composePicture(compose.outline, compose.view, compose.options, compose.workers, compose.cache);
        if (!found) qFatal("%s", found.error().text().c_str());
        return *found;
    };
    Composer shortOne(lg::flatChain(8));
    shortOne.view.wrapping = Wrapping::Automatic;
    QVERIFY(shortOne()->bounds.height > 3 * shortOne()->bounds.width);
    QVERIFY(picture(shortOne).scene->jumps.empty());
    // The columns of a window are not those of a page.
    Composer longOne(lg::flatChain(100));
    longOne.view.wrapping = Wrapping::Automatic;
    const FirstView found = picture(longOne);
    longOne.view.columnHeight = 250;
    QCOMPARE(picture(longOne).view, found.view);
}

void TestSceneWrap::namesOfColumnsAreWithinTheirBox() {
    const auto document = sonde::document::open("zoo:resnet18");
    QVERIFY(document);
    Composer compose((*document)->graph);
    openToDepth(compose.outline, compose.view, 99);
    compose.view.columnHeight = 500;
    for (const Direction direction : {Direction::TopDown, Direction::LeftRight}) {
        compose.view.direction = direction;
        const auto scene = compose();
        QCOMPARE(brokenRule(*scene), std::string());
        int inside = 0;
        for (const SceneJump& jump : scene->jumps) {
            const ItemId box = scene->item(jump.from).parent;
            if (!box.valid() || scene->item(jump.to).parent != box) continue;
            ++inside;
            const Rect& rect = scene->item(box).rect;
            // A name is about 18 units high.
            if (direction == Direction::TopDown) QVERIFY(jump.leaves.y <= rect.bottom() - 9);
            else QVERIFY(jump.leaves.x <= rect.right() - 9);
        }
        QVERIFY(inside > 0);
    }
}

QTEST_GUILESS_MAIN(TestSceneWrap)

}  // namespace tst_scene_wrap

#include "tst_scene_wrap.moc"
