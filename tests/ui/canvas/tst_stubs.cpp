// Stubs by hover, click and key: both ends are one.

#include <QSettings>
#include <QStandardPaths>
#include <QTest>

#include "ui/canvas/graph_canvas.h"
#include "ui/theme/theme.h"

namespace tst_stubs {

using namespace sonde;
using canvas::GraphCanvas;
using context::InspectorContext;
using layout::ItemId;
using layout::ItemKind;

class TestStubs : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void initTestCase() {
        QStandardPaths::setTestModeEnabled(true);
        QCoreApplication::setOrganizationName(QStringLiteral("sonde-test-stubs"));
        theme::Theme::instance().install(*qApp);
        theme::Theme::instance().setReducedMotion(true);
    }

    void init() {
        QSettings().clear();
        m_context = std::make_unique<InspectorContext>();
        m_canvas = std::make_unique<GraphCanvas>(*m_context);
        m_canvas->resize(1200, 900);
        m_canvas->show();
        QVERIFY(QTest::qWaitForWindowExposed(m_canvas.get()));
        // Eight layers that read one mask.
        m_context->loader().open(QStringLiteral("zoo:gpt2?layers=8&dim=48&heads=4&vocab=100&positions=70"));
        QTRY_VERIFY_WITH_TIMEOUT(m_context->model().isOpen(), 20000);
        layout::ViewState view = m_context->canvases().active().view();
        view.foldFrom = 0;
        m_context->canvases().active().setView(view);
        m_context->canvases().active().expandToDepth(2);
        QTRY_VERIFY_WITH_TIMEOUT(m_canvas->view().scene() != nullptr, 20000);
        settle();
        m_canvas->navigation().fit();
        settle();
        m_stubs.clear();
        for (std::size_t i = 0; i < m_canvas->view().scene()->items.size(); ++i)
            if (m_canvas->view().scene()->items[i].what.kind == ItemKind::Stub) m_stubs.push_back(ItemId(i));
        QCOMPARE(m_stubs.size(), std::size_t{8});
        m_source = m_canvas->view().scene()->item(m_stubs.front()).source;
        QVERIFY(m_source.valid());
        QCOMPARE(m_canvas->view().scene()->item(m_source).stubs, 8u);
    }

    void cleanup() {
        m_canvas.reset();
        m_context.reset();
    }
    void cleanupTestCase() { context::Job::waitForAll(); }

    void hoverSetsBothEndsOff() {
        const QImage before = m_canvas->grab().toImage();
        QTest::mouseMove(m_canvas.get(), centreOf(m_stubs.back()));
        const QRect source = m_canvas->view().itemRect(m_source).toAlignedRect().adjusted(-3, -3, 3, 3);
        QVERIFY(before.rect().contains(source));
        const auto differs = [&](const QRect& rect) {
            return before.copy(rect) != m_canvas->grab().toImage().copy(rect);
        };
        QTRY_VERIFY(differs(source));
        // And from the source all stubs.
        QTest::mouseMove(m_canvas.get(), centreOf(m_source));
        for (const ItemId stub : m_stubs)
            QTRY_VERIFY(differs(m_canvas->view().itemRect(stub).toAlignedRect().adjusted(-3, -3, 3, 3)));
    }

    void clickSelectsTheValueAndDoubleClickGoesThere() {
        QTest::mouseClick(m_canvas.get(), Qt::LeftButton, {}, centreOf(m_stubs.back()));
        QCOMPARE(m_canvas->view().currentItem(), m_stubs.back());
        QCOMPARE(m_context->navigation().selection().node,
                 m_canvas->view().scene()->item(m_stubs.back()).what.values.front());
        QTest::mouseDClick(m_canvas.get(), Qt::LeftButton, {}, centreOf(m_stubs.back()));
        settle();
        QCOMPARE(m_canvas->view().currentItem(),
                 m_canvas->view().scene()->find(m_canvas->view().scene()->item(m_source).key));
    }

    void followingGoesThereAndBack() {
        QTest::mouseClick(m_canvas.get(), Qt::LeftButton, {}, centreOf(m_stubs[3]));
        m_canvas->navigation().followCurrent();
        settle();
        QCOMPARE(m_canvas->view().currentItem(), m_source);
        m_canvas->navigation().followCurrent();
        settle();
        QCOMPARE(m_canvas->view().currentItem(), m_stubs.front());
    }

  private:
    void settle() { QTRY_VERIFY_WITH_TIMEOUT(m_canvas->isIdle() && !m_context->isBusy(), 20000); }
    QPoint centreOf(ItemId item) const { return m_canvas->view().itemRect(item).center().toPoint(); }

    std::unique_ptr<InspectorContext> m_context;
    std::unique_ptr<GraphCanvas> m_canvas;
    std::vector<ItemId> m_stubs;
    ItemId m_source;
};

QTEST_MAIN(TestStubs)

}  // namespace tst_stubs

#include "tst_stubs.moc"
