// Long flows in columns: what a fitted canvas chooses, and where a click on a name between columns leads.

#include <QSettings>
#include <QStandardPaths>
#include <QTest>

#include <algorithm>
#include <map>
#include <utility>

#include "ui/canvas/graph_canvas.h"
#include "ui/theme/theme.h"

namespace tst_wrapped_canvas {

using namespace sonde;
using canvas::GraphCanvas;
using canvas::JumpName;
using context::InspectorContext;
using layout::Wrapping;

class TestWrappedCanvas : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void initTestCase() {
        QStandardPaths::setTestModeEnabled(true);
        QCoreApplication::setOrganizationName(QStringLiteral("sonde-test-wrapped-canvas"));
        theme::Theme::instance().install(*qApp);
        theme::Theme::instance().setReducedMotion(true);
    }
    void init() {
        QSettings().clear();
        m_context = std::make_unique<InspectorContext>();
        m_canvas = std::make_unique<GraphCanvas>(*m_context);
        m_canvas->resize(980, 620);
        m_canvas->show();
        QVERIFY(QTest::qWaitForWindowExposed(m_canvas.get()));
        openDeep();
    }
    void cleanup() {
        m_canvas.reset();
        m_context.reset();
    }
    void cleanupTestCase() { context::Job::waitForAll(); }

    void aDeepModelIsReadWhenItIsFitted();
    void aChainThatIsHardToReadBeginsInColumns();
    void wrappingOnNeedsNoFit();
    void aClickOnANameGoesToTheOtherEnd();
    void namesTellOperationsOfAModuleApart();

  private:
    context::CanvasState& state() { return m_context->canvases().active(); }
    const layout::SceneLayout& scene() const { return *m_canvas->view().scene(); }
    void settle() { QTRY_VERIFY_WITH_TIMEOUT(m_canvas->isIdle() && !m_context->isBusy(), 60000); }
    void wrap(Wrapping wrapping) {
        layout::ViewState view = state().view();
        view.wrapping = wrapping;
        view.columnHeight = 0;
        state().setView(view);
        settle();
    }
    void fit() {
        m_canvas->navigation().fit();
        settle();
    }
    /// resnet18 with every module open.
    void openDeep() {
        m_context->loader().open(QStringLiteral("zoo:resnet18"));
        QTRY_VERIFY_WITH_TIMEOUT(m_context->model().isOpen(), 20000);
        settle();
        state().setFolds(false);
        state().expandToDepth(9);
        settle();
    }

    std::unique_ptr<InspectorContext> m_context;
    std::unique_ptr<GraphCanvas> m_canvas;
};

void TestWrappedCanvas::aDeepModelIsReadWhenItIsFitted() {
    wrap(Wrapping::Off);
    fit();
    const double ribbon = m_canvas->view().camera().scale;
    QVERIFY(scene().jumps.empty());
    wrap(Wrapping::Automatic);
    fit();
    QVERIFY(!scene().jumps.empty());
    QVERIFY(state().view().columnHeight > 0);
    const double columns = m_canvas->view().camera().scale;
    QVERIFY2(columns > 2.5 * ribbon, qPrintable(QStringLiteral("%1 after %2").arg(columns).arg(ribbon)));
    // The whole is in view, and lines between columns have names.
    QVERIFY(m_canvas->view().visible().contains(canvas::toQt(scene().bounds)));
    QVERIFY(m_canvas->view().painter()->jumpNames(columns).size() >= 2);
    // Far out the ends of names are left, of which "0" would tell nothing.
    for (const JumpName& name : m_canvas->view().painter()->jumpNames(0.2)) {
        const bool isNumber = !std::any_of(name.text.begin(), name.text.end(), [](QChar c) { return c.isLetter(); });
        QVERIFY2(!isNumber, qPrintable(name.text));
    }
    // Closed again it needs none.
    state().expandToDepth(0);
    settle();
    fit();
    QVERIFY(scene().jumps.empty());
    QCOMPARE(state().view().columnHeight, 0.0);
}

/// In a canvas as wide as that of a window of 1280 by 720, the titles of resnet18 had letters of 7 pixels in one
/// column.
void TestWrappedCanvas::aChainThatIsHardToReadBeginsInColumns() {
    m_context->loader().open(QStringLiteral("zoo:resnet50"));
    QTRY_VERIFY_WITH_TIMEOUT(m_context->model().isOpen() && m_context->model().graph().nodeCount() > 200, 20000);
    settle();
    const auto letters = [&] {
        return canvas::canvasFont(canvas::TextRole::Title, 1).pixelSize() * m_canvas->view().camera().scale;
    };
    QVERIFY(!scene().jumps.empty());
    QVERIFY2(letters() >= 10, qPrintable(QString::number(letters())));
    // What is opened or watched in it moves nothing else, and Fit leaves the columns.
    const double height = state().view().columnHeight;
    fit();
    QCOMPARE(state().view().columnHeight, height);
    for (std::size_t i = 0; i < scene().items.size(); ++i)
        if (scene().items[i].what.expandable) {
            m_canvas->navigation().toggleItem(layout::ItemId(i));
            break;
        }
    settle();
    QCOMPARE(state().view().columnHeight, height);
    QVERIFY(!scene().jumps.empty());
}

void TestWrappedCanvas::wrappingOnNeedsNoFit() {
    wrap(Wrapping::On);
    QVERIFY(!scene().jumps.empty());
    const double height = state().view().columnHeight;
    QVERIFY(height > 400);
    state().setDirection(layout::Direction::LeftRight);
    settle();
    QVERIFY(!scene().jumps.empty());
    QVERIFY(state().view().columnHeight > height);  // the canvas is wider than it is high
    wrap(Wrapping::Off);
    QVERIFY(scene().jumps.empty());
    fit();
    QVERIFY(scene().jumps.empty());
}

/// Several operations of an exported transformer stand in one module by themselves, and have its name alone.
void TestWrappedCanvas::namesTellOperationsOfAModuleApart() {
    m_context->loader().open(QStringLiteral(SONDE_TEST_DATA "/models/gpt_mini.onnx"));
    QTRY_VERIFY_WITH_TIMEOUT(m_context->model().isOpen() && m_context->model().graph().name != "ResNet", 20000);
    settle();
    state().setFolds(false);
    state().expandToDepth(9);
    settle();
    layout::ViewState view = state().view();
    view.wrapping = Wrapping::On;
    view.columnHeight = 400;
    state().setView(view);
    settle();
    std::map<std::pair<layout::ItemId, QString>, layout::ItemId> owners;  // by the box around and the name
    for (const JumpName& name : m_canvas->view().painter()->jumpNames(0.8)) {
        const auto [owner, isNew] = owners.try_emplace({scene().item(name.item).parent, name.text}, name.item);
        QVERIFY2(owner->second == name.item || name.text.contains(u','), qPrintable(name.text));
    }
    QVERIFY(owners.size() > 20);
}

void TestWrappedCanvas::aClickOnANameGoesToTheOtherEnd() {
    wrap(Wrapping::On);
    fit();
    const std::vector<JumpName> names = m_canvas->view().painter()->jumpNames(0.8);
    const auto leaving =
        std::find_if(names.begin(), names.end(), [](const JumpName& name) { return name.text.startsWith(u'\u2192'); });
    QVERIFY(leaving != names.end());
    const auto click = [&](QPointF place) {
        const QPointF pixel = m_canvas->view().camera().toPixel(place, m_canvas->view().size());
        QTest::mouseClick(m_canvas.get(), Qt::LeftButton, {}, pixel.toPoint());
        settle();
    };
    m_canvas->view().placeCamera({leaving->rect.center(), 0.8});
    click(leaving->rect.center());
    QVERIFY(m_canvas->view().visible().marginsRemoved({100, 100, 100, 100}).contains(leaving->other));
    QCOMPARE(m_canvas->view().camera().scale, 0.8);
    QCOMPARE(m_canvas->view().currentItem(), leaving->item);
    // The name at that end leads back.
    const auto back = std::find_if(names.begin(), names.end(), [&](const JumpName& name) {
        return name.rect.contains(leaving->other) && name.text.endsWith(u'\u2192');
    });
    QVERIFY(back != names.end());
    click(back->rect.center());
    QVERIFY(m_canvas->view().visible().contains(leaving->rect));
    QCOMPARE(m_canvas->view().currentItem(), back->item);
}

QTEST_MAIN(TestWrappedCanvas)

}  // namespace tst_wrapped_canvas

#include "tst_wrapped_canvas.moc"
