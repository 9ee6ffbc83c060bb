// The parts of a window's state without a window: two canvases with views of their own, what reveals and what is kept.

#include <QSettings>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QtTest>

#include "core/document/document.h"
#include "ui/context/inspector_context.h"
#include "ui/context/remembered.h"

namespace tst_canvases {

using namespace sonde;
using namespace sonde::context;

class TestCanvases : public QObject {
    Q_OBJECT

  private Q_SLOTS:
    void initTestCase();
    void init() { QSettings().clear(); }
    void eachCanvasKeepsItsOwnView();
    void revealingOpensInTheActiveCanvas();
    void theOtherBeginsWithACopy();
    void bothViewsAreRemembered();

  private:
    std::shared_ptr<const document::Document> m_document;
    QTemporaryDir m_settings;
};

void TestCanvases::initTestCase() {
    QCoreApplication::setOrganizationName(QStringLiteral("SondeTest"));
    QSettings::setDefaultFormat(QSettings::IniFormat);
    QSettings::setPath(QSettings::IniFormat, QSettings::UserScope, m_settings.path());
    const auto opened = document::open(SONDE_TEST_DATA "/models/resnet18_slim.onnx");
    QVERIFY(opened);
    m_document = *opened;
}

void TestCanvases::eachCanvasKeepsItsOwnView() {
    InspectorContext context;
    context.loader().show(m_document);
    Canvases& canvases = context.canvases();
    QSignalSpy first(&canvases.at(0), &CanvasState::viewChanged), second(&canvases.at(1), &CanvasState::viewChanged);
    QSignalSpy either(&canvases, &Canvases::viewChanged);
    canvases.active().setDirection(layout::Direction::LeftRight);
    QCOMPARE(first.size(), 1);
    QCOMPARE(second.size(), 0);
    QCOMPARE(either.size(), 1);
    const CanvasState* before = &canvases.at(0);
    canvases.setActive(1);
    QCOMPARE(&canvases.at(0), before);
    QCOMPARE(&canvases.active(), &canvases.at(1));
    QCOMPARE(canvases.at(0).view().direction, layout::Direction::LeftRight);
    QCOMPARE(canvases.at(1).view().direction, layout::Direction::TopDown);
    canvases.active().setShowsConstants(true);
    QVERIFY(canvases.at(0).view().hideConstants);
    QVERIFY(!canvases.at(1).view().hideConstants);
    // The one that is not active can be changed, too.
    canvases.at(0).expandToDepth(0);
    QVERIFY(canvases.at(0).view().openScopes.empty());
    QCOMPARE(canvases.activeNumber(), 1);
    canvases.setActive(2);
    QCOMPARE(canvases.activeNumber(), 1);
}

void TestCanvases::revealingOpensInTheActiveCanvas() {
    InspectorContext context;
    context.loader().show(m_document);
    for (const int canvas : {0, 1}) context.canvases().at(canvas).expandToDepth(0);
    context.canvases().setActive(1);
    const Selection module = context.navigation().selectionOf(QStringLiteral("layer1"));
    QCOMPARE(module.kind, Selection::Kind::Scope);
    // What hides it is open before anybody is asked to show it.
    bool wasOpen = false;
    connect(&context.navigation(), &Navigation::revealRequested, this,
            [&] { wasOpen = !context.canvases().at(1).view().openScopes.empty(); });
    const graph::NodeId inside = m_document->findNode("layer1:").value();
    context.navigation().navigateTo(inside);
    QVERIFY(wasOpen);
    QVERIFY(context.canvases().at(0).view().openScopes.empty());
    QVERIFY(context.navigation().selection().node == inside);
}

void TestCanvases::theOtherBeginsWithACopy() {
    InspectorContext context;
    context.loader().show(m_document);
    context.navigation().select(m_document->outputs.front().node);
    context.canvases().active().focusConeOfSelection(true, false);
    QSignalSpy other(&context.canvases().at(1), &CanvasState::viewChanged);
    context.canvases().copyToOther();
    QCOMPARE(other.size(), 0);
    QCOMPARE(context.canvases().at(1).focus(), context.canvases().at(0).focus());
    context.canvases().active().showEverything();
    QCOMPARE(context.canvases().at(0).focus().kind, Focus::Kind::None);
    QCOMPARE(context.canvases().at(1).focus().kind, Focus::Kind::Cone);
}

void TestCanvases::bothViewsAreRemembered() {
    {
        InspectorContext context;
        context.loader().show(m_document);
        context.canvases().at(1).setDirection(layout::Direction::LeftRight);
        context.canvases().at(0).expandToDepth(0);
        context.navigation().toggleBookmark(context.navigation().selectionOf(m_document->outputs.front().node));
        context.points().setWatched(m_document->outputs.front().node, true);
    }
    InspectorContext again;
    again.loader().show(m_document);
    QCOMPARE(again.canvases().at(0).view().direction, layout::Direction::TopDown);
    QCOMPARE(again.canvases().at(1).view().direction, layout::Direction::LeftRight);
    QVERIFY(again.canvases().at(0).view().openScopes.empty());
    QCOMPARE(again.navigation().bookmarks().size(), std::size_t{1});
    QVERIFY(again.points().isWatched(m_document->outputs.front().node));
    again.loader().close();
    QVERIFY(again.navigation().bookmarks().empty());
    QVERIFY(again.points().watched().empty());
    QVERIFY(again.inputs().all().empty());
    QVERIFY(!again.model().outline());
}

QTEST_MAIN(TestCanvases)

}  // namespace tst_canvases

#include "tst_canvases.moc"
