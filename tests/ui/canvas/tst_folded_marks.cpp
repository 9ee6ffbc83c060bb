// Marks where repeated blocks are drawn as one: those of the block that is shown, and in how many blocks they are.

#include <QSettings>
#include <QTest>

#include <string>

#include "ui/canvas/graph_canvas.h"
#include "ui/canvas/mark_text.h"
#include "ui/theme/theme.h"

namespace tst_folded_marks {

using namespace sonde;
using canvas::ItemFlags;

class TestFoldedMarks : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void initTestCase() {
        QCoreApplication::setOrganizationName(QStringLiteral("sonde-test-folded-marks"));
        theme::Theme::instance().install(*qApp);
        theme::Theme::instance().setReducedMotion(true);
    }
    void init();
    void cleanup() {
        m_canvas.reset();
        m_context.reset();
    }
    void cleanupTestCase() { context::Job::waitForAll(); }

    void anEditMarksTheBlocksThatItReaches();
    void aClosedBoxCountsItsBlocks();
    void whatIsInEachBlockIsNotCounted();
    void anEditedWeightIsThatOfItsBlock();
    void differencesAreThoseOfTheirBlock();

  private:
    context::CanvasState& state() { return m_context->canvases().active(); }
    const graph::InternalGraph& graph() const { return m_context->model().graph(); }
    void settle() { QTRY_VERIFY_WITH_TIMEOUT(m_canvas->isIdle() && !m_context->isBusy(), 60000); }
    /// The first normalisation of a block.
    graph::ExprId firstOf(int block) const {
        const graph::NodeId node = graph().findNode("encoder_layers_encoder_layer_" + std::to_string(block) + "_ln_1");
        return node.valid() ? graph().node(node).producer : graph::ExprId();
    }
    void open(const QString& model) {
        m_context->loader().open(model);
        QTRY_VERIFY_WITH_TIMEOUT(m_context->model().isOpen(), 20000);
        settle();
        layout::ViewState view = state().view();
        view.foldFrom = 2;
        state().setView(view);
        state().expandToDepth(9);
        settle();
    }
    void doubleOutputOf(graph::ExprId expr) {
        session::Edit edit;
        edit.kind = session::Edit::Kind::Scale;
        edit.number = 2;
        m_context->edits().add(graph().expr(expr).outputs.front(), edit);
        settle();
    }
    std::uint32_t run() const {
        const layout::Outline& outline = *m_context->model().outline();
        for (std::uint32_t i = 0; i < outline.runs().size(); ++i)
            if (outline.runs()[i].instances.size() == m_blocks) return i;
        return layout::Outline::kNoRun;
    }
    void show(std::uint32_t block) {
        state().showInstance(run(), block);
        settle();
    }
    layout::ItemId box() const {
        const std::vector<layout::SceneItem>& items = m_canvas->view().scene()->items;
        for (std::size_t i = 0; i < items.size(); ++i)
            if (items[i].what.repeat == m_blocks) return layout::ItemId(i);
        return {};
    }
    /// Of the first operation of the block that is shown.
    ItemFlags shownFlags() const { return m_canvas->marks().of(m_canvas->view().scene()->itemOf(firstOf(0))); }
    std::uint32_t part(canvas::ItemFlag flag) const {
        const canvas::BlockCounts* const blocks = m_canvas->marks().blocksOf(box());
        return blocks ? blocks->part(flag) : 0;
    }

    std::size_t m_blocks = 5;
    std::unique_ptr<context::InspectorContext> m_context;
    std::unique_ptr<canvas::GraphCanvas> m_canvas;
};

void TestFoldedMarks::init() {
    QSettings().clear();
    m_context = std::make_unique<context::InspectorContext>();
    m_canvas = std::make_unique<canvas::GraphCanvas>(*m_context);
    m_canvas->resize(980, 620);
    m_canvas->show();
    QVERIFY(QTest::qWaitForWindowExposed(m_canvas.get()));
    m_blocks = 5;
    open(QStringLiteral("zoo:vit_b_16?layers=5&dim=48&mlp=96&heads=4"));
    m_context->runs().run();
    QTRY_COMPARE_WITH_TIMEOUT(m_context->runs().state(), context::RunState::Finished, 60000);
    settle();
    QVERIFY(run() != layout::Outline::kNoRun);
    QVERIFY(box() && m_canvas->view().scene()->item(box()).what.open);
    QCOMPARE(m_canvas->view().scene()->item(box()).what.instance, 0U);
}

/// In the fourth of five: that one and the fifth have other values.
void TestFoldedMarks::anEditMarksTheBlocksThatItReaches() {
    doubleOutputOf(firstOf(3));
    QVERIFY(m_context->edits().isCounterfactual());
    QVERIFY(!(shownFlags() & (canvas::kEdited | canvas::kWhatIf)));
    QCOMPARE(part(canvas::kEdited), 1U);
    QCOMPARE(part(canvas::kWhatIf), 2U);
    const QString spoken = m_canvas->text().spoken(box());
    QVERIFY2(spoken.contains(QStringLiteral("edited value in 1 of 5 blocks, counterfactual in 2 of 5 blocks")),
             qPrintable(spoken));
    QCOMPARE(canvas::blockTexts(m_canvas->marks().blocksOf(box())),
             (QStringList{QStringLiteral("Edited values in 1 of 5 blocks"),
                          QStringLiteral("Counterfactual in 2 of 5 blocks")}));
    show(3);
    QVERIFY(shownFlags() & canvas::kEdited);
    show(4);
    QVERIFY(!(shownFlags() & canvas::kEdited));
    QVERIFY(shownFlags() & canvas::kWhatIf);
    show(2);
    QVERIFY(!(shownFlags() & (canvas::kEdited | canvas::kWhatIf)));
    QCOMPARE(part(canvas::kWhatIf), 2U);
}

void TestFoldedMarks::aClosedBoxCountsItsBlocks() {
    doubleOutputOf(firstOf(3));
    state().setExpanded(m_canvas->view().scene()->item(box()).what.scope, false);
    settle();
    QVERIFY(!m_canvas->view().scene()->item(box()).what.open);
    const ItemFlags flags = m_canvas->marks().of(box());
    QVERIFY(flags & canvas::kEdited && flags & canvas::kWhatIf && flags & canvas::kInside);
    QCOMPARE(part(canvas::kEdited), 1U);
    QCOMPARE(part(canvas::kWhatIf), 2U);
    m_context->edits().remove(0);
    settle();
    QVERIFY(!(m_canvas->marks().of(box()) & (canvas::kEdited | canvas::kWhatIf)));
    QVERIFY(!m_canvas->marks().blocksOf(box()));
}

/// Of the first block all others follow.
void TestFoldedMarks::whatIsInEachBlockIsNotCounted() {
    doubleOutputOf(firstOf(0));
    QVERIFY(shownFlags() & canvas::kEdited);
    QVERIFY(m_canvas->marks().of(box()) & canvas::kWhatIf);
    QCOMPARE(part(canvas::kWhatIf), 0U);
    QCOMPARE(part(canvas::kEdited), 1U);
    QVERIFY(m_canvas->text().spoken(box()).contains(QStringLiteral(", counterfactual")));
    QVERIFY(!m_canvas->text().spoken(box()).contains(QStringLiteral("counterfactual in")));
    show(1);
    QVERIFY(!(shownFlags() & canvas::kEdited) && shownFlags() & canvas::kWhatIf);
}

/// It is not drawn, and belongs to no module of the file: its reader is marked, in its block alone.
void TestFoldedMarks::anEditedWeightIsThatOfItsBlock() {
    m_blocks = 2;
    open(QStringLiteral(SONDE_TEST_DATA "/models/gpt_mini.onnx"));
    QVERIFY(box() && m_canvas->view().scene()->item(box()).what.open);
    graph::NodeId weight;
    for (std::size_t i = 0; i < graph().nodeCount() && !weight.valid(); ++i) {
        const graph::Node& node = graph().node(graph::NodeId(i));
        if (!node.constant || node.users.size() != 1 || !node.type.text().starts_with("float32[")) continue;
        const graph::Expr& user = graph().expr(node.users.front());
        if (user.scope.valid() && graph().scope(user.scope).qualname.starts_with("blocks.1."))
            weight = graph::NodeId(i);
    }
    QVERIFY(weight.valid());
    doubleOutputOf(graph().node(weight).producer);
    const auto flags = [&] {
        return m_canvas->marks().of(m_canvas->view().scene()->itemOf(graph().node(weight).users.front()));
    };
    QCOMPARE(part(canvas::kEdited), 1U);
    QVERIFY(!(flags() & canvas::kEdited));
    show(1);
    QVERIFY(flags() & canvas::kEdited);
}

void TestFoldedMarks::differencesAreThoseOfTheirBlock() {
    using Kind = context::DifferenceMarks::Kind;
    m_context->differenceMarks().set({{firstOf(1), Kind::Changed, {}}, {firstOf(4), Kind::Changed, {}}});
    QVERIFY(!(shownFlags() & canvas::kChanged));
    QCOMPARE(part(canvas::kChanged), 2U);
    show(4);
    QVERIFY(shownFlags() & canvas::kChanged);
    // One more, where the flags of no item change.
    m_context->differenceMarks().set(
        {{firstOf(1), Kind::Changed, {}}, {firstOf(2), Kind::Changed, {}}, {firstOf(4), Kind::Changed, {}}});
    QCOMPARE(part(canvas::kChanged), 3U);
}

QTEST_MAIN(TestFoldedMarks)

}  // namespace tst_folded_marks

#include "tst_folded_marks.moc"
