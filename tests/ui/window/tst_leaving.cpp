// What is left behind when a model is closed, replaced, not opened after all, or its inputs change: nothing may point
// to it.

#include <QAction>
#include <QPlainTextEdit>

#include "tests/support/window_fixture.h"
#include "ui/context/comparison.h"
#include "ui/context/value_measures.h"
#include "ui/dialogs/text_dialog.h"
#include "ui/models/message_model.h"

namespace tst_leaving {

using namespace sonde;
using context::InspectorContext;

class TestLeaving : public test::WindowFixture {
    Q_OBJECT
  private Q_SLOTS:
    void initTestCase() { prepare(); }
    void init() {
        QSettings().clear();
        openWindow();
    }
    void cleanup() { closeWindow(); }
    void coloursOfValuesGoWithTheModel_data();
    void coloursOfValuesGoWithTheModel();
    void theSecondCanvasGoesWithTheModel();
    void whatCouldNotBeOpenedIsForgotten();
    void closingEndsWhatIsBeingOpened();
    void closingLetsGoOfTheModel();
    void valuesLookedUpLaterAreOfTheRun();
    void messagesKnowTheirModel();
    void theLogHoldsNoMoreThanTheContext();
    void aSecondCanvasShowsWhatTheFirstIsAboutTo();
    void theTextIsOfOneCanvas();

  private:
    QAction* action(const char* id) { return m_window->actions().action(QLatin1String(id)); }
};

void TestLeaving::coloursOfValuesGoWithTheModel_data() {
    QTest::addColumn<QString>("column");
    QTest::addColumn<QString>("next");
    for (const char* column : {"mean", "difference"})
        for (const char* next : {"", "zoo:seed", "zoo:vit_small"})
            QTest::addRow("by %s, then %s", column, *next ? next : "nothing") << column << next;
}

void TestLeaving::coloursOfValuesGoWithTheModel() {
    QFETCH(QString, column);
    QFETCH(QString, next);
    open(QStringLiteral("zoo:unet_small"));
    run();
    context().settings().setColorBy(column);
    if (column == QStringLiteral("difference")) {
        context().comparison().keepRun();
        context().comparison().withKeptRun();
        QTRY_VERIFY_WITH_TIMEOUT(context().comparison().isKnown(), 30000);
    } else {
        QTRY_VERIFY_WITH_TIMEOUT(context().valueMeasures().isKnown(), 30000);
    }
    settle();
    if (next.isEmpty()) context().loader().close();
    else open(next);
    settle();
    QCOMPARE(context().model().isOpen(), !next.isEmpty());
    QVERIFY(!context().valueMeasures().isKnown());
    QVERIFY(!context().comparison().isKnown());
    QCOMPARE(canvas()->view().scene() != nullptr, !next.isEmpty());
}

void TestLeaving::theSecondCanvasGoesWithTheModel() {
    open(file("gpt_mini.onnx"));
    m_window->canvases().split(Qt::Horizontal);
    context().canvases().active().expandToDepth(4);
    settle();
    const auto all = find("op:MatMul");
    context().navigation().navigateTo(all.back());
    settle();
    m_window->canvases().at(0)->setFocus();
    // The sample's picture is given while the model is being opened, and panels come and go.
    for (const char* next : {"zoo:seed", "zoo:unet_small", "zoo:seed"}) open(QLatin1String(next));
    for (int number : {0, 1}) QVERIFY(m_window->canvases().at(number)->view().scene());
    QCOMPARE(m_window->canvases().at(0)->view().scene()->items.size(),
             m_window->canvases().at(1)->view().scene()->items.size());
}

void TestLeaving::whatCouldNotBeOpenedIsForgotten() {
    open(QStringLiteral("zoo:unet_small"));
    document::OpenOptions options = context().loader().options();
    options.leaves = {"Conv2d"};
    QSignalSpy failed(&context().loader(), &context::Loader::loadFailed),
        opened(&context().model(), &context::OpenModel::documentOpened);
    context().loader().retrace(options);
    QTRY_COMPARE_WITH_TIMEOUT(opened.count(), 1, 30000);
    m_window->open(QStringLiteral("/nowhere/model.onnx"));
    QTRY_COMPARE_WITH_TIMEOUT(failed.count(), 1, 30000);
    QCOMPARE(context().loader().location(), QStringLiteral("zoo:unet_small"));
    QCOMPARE(context().loader().options().leaves.size(), std::size_t{1});
    context().loader().reload();
    QTRY_COMPARE_WITH_TIMEOUT(opened.count(), 2, 30000);
    QCOMPARE(failed.count(), 1);
    // The same of what was given up.
    m_window->open(QStringLiteral("zoo:resnet50"));
    context().loader().cancel();
    QCOMPARE(context().loader().location(), QStringLiteral("zoo:unet_small"));
}

void TestLeaving::closingEndsWhatIsBeingOpened() {
    QSignalSpy failed(&context().loader(), &context::Loader::loadFailed);
    m_window->open(QStringLiteral("zoo:resnet50"));
    context().loader().close();
    QCOMPARE(failed.count(), 1);
    QVERIFY(context().loader().location().isEmpty());
    QCOMPARE(context().loader().state(), context::LoadState::Empty);
    settle();
    QVERIFY(!context().model().isOpen());
}

void TestLeaving::closingLetsGoOfTheModel() {
    open(file("resnet18_slim.onnx"));
    run();
    context().runs().requestValue(node("op:Relu"));
    QTRY_VERIFY(context().runs().value(node("op:Relu")));
    settle();
    const std::weak_ptr<const graph::InternalGraph> graph = context().model().document()->graph;
    context().loader().close();
    // Runners hold packed weights; what is freed is freed on other threads.
    QTRY_VERIFY_WITH_TIMEOUT(graph.expired(), 10000);
}

void TestLeaving::valuesLookedUpLaterAreOfTheRun() {
    open(QStringLiteral("zoo:mlp_functional"));
    const QString input = context().inputs().all().front().name;
    QSignalSpy read(&context().inputs(), &context::Inputs::inputsChanged);
    context().inputs().setSpec(input, {QStringLiteral("#rand(0,0,3,12)"), {}});
    settle();
    run();
    graph::NodeId late;
    for (const graph::ExprId id : context().model().graph().main().order) {
        const graph::Expr& expr = context().model().graph().expr(id);
        if (!expr.outputs.empty() && !layout::Outline::isConstant(expr) && expr.kind != graph::ExprKind::Input &&
            !context().runs().value(expr.outputs.front()) &&
            context().runs().recording()->computed(expr.outputs.front())) {
            late = expr.outputs.front();
            break;
        }
    }
    QVERIFY(late.valid());
    // The value for zeros, from a run of its own.
    exec::Runner runner(1);
    const auto plan = exec::Plan::make(context().model().document()->graph, {.watch = {late}}).value();
    const exec::Recording expected = runner.run(*plan, context().inputs().values());
    QVERIFY(!expected.error);
    context().inputs().setSpec(input, {QStringLiteral("#rand(5,6,3,12)"), {}});
    settle();
    context().runs().requestValue(late);
    QTRY_VERIFY(context().runs().value(late));
    QVERIFY(tensor::identical(*context().runs().value(late), *expected.value(late)));
    // So are the measures of all values.
    context().valueMeasures().compute();
    QTRY_VERIFY_WITH_TIMEOUT(context().valueMeasures().isKnown(), 30000);
    QCOMPARE(context().valueMeasures().of(late)->mean, analysis::tensorStats(expected.value(late)->tensor()).mean);
}

void TestLeaving::messagesKnowTheirModel() {
    open(QStringLiteral("zoo:unet_small"));
    const graph::NodeId there = find("not is:weight").back();
    context().messages().report(
        context::Message{base::Severity::Error, QStringLiteral("something is wrong here"), {}, {}, there});
    context().navigation().clearSelection();
    action("go.next_problem")->trigger();
    QCOMPARE(context().navigation().selection().node, there);
    open(QStringLiteral("zoo:resnet18"));
    context().navigation().clearSelection();
    action("go.next_problem")->trigger();
    QVERIFY(context().navigation().selection().isNone());
    const models::MessageModel log(context().messages());
    for (int row = 0; row < log.rowCount(); ++row) QVERIFY(!log.index(row, 0).data(models::NodeRole).isValid());
}

void TestLeaving::theLogHoldsNoMoreThanTheContext() {
    models::MessageModel log(context().messages());
    for (int i = 0; i < 2100; ++i)
        context().messages().report(context::Message{base::Severity::Info, QString::number(i), {}, {}, {}});
    QCOMPARE(context().messages().all().size(), context::Messages::kMaxCount);
    QCOMPARE(log.rowCount(), static_cast<int>(context::Messages::kMaxCount));
    QCOMPARE(log.index(log.rowCount() - 1, 0).data().toString(), QStringLiteral("2099"));
}

void TestLeaving::aSecondCanvasShowsWhatTheFirstIsAboutTo() {
    open(file("gpt_mini.onnx"));
    context().canvases().active().expandToDepth(0);
    settle();
    context().canvases().active().expandToDepth(4);
    m_window->canvases().split(Qt::Horizontal);
    settle();
    QCOMPARE(m_window->canvases().at(1)->view().scene()->items.size(),
             m_window->canvases().at(0)->view().scene()->items.size());
    // The reverse: the first takes the place of the second.
    context().canvases().setActive(1);
    context().canvases().active().expandToDepth(0);
    const std::size_t before = m_window->canvases().at(1)->view().scene()->items.size();
    m_window->canvases().close(0);
    settle();
    QVERIFY(canvas()->view().scene()->items.size() < before);
}

void TestLeaving::theTextIsOfOneCanvas() {
    open(file("gpt_mini.onnx"));
    m_window->canvases().split(Qt::Horizontal);
    context().canvases().active().expandToDepth(4);
    settle();
    context().canvases().setActive(0);
    context().canvases().active().expandToDepth(0);
    settle();
    action("view.text")->trigger();
    auto* dialog = m_window->findChild<dialogs::TextDialog*>();
    QVERIFY(dialog);
    const QString text = dialog->text()->toPlainText();
    context().canvases().setActive(1);
    context().canvases().active().expandToDepth(1);  // another picture beside
    settle();
    QCOMPARE(dialog->text()->toPlainText(), text);
    Q_EMIT dialog->lineChosen(1);
    settle();
    QCOMPARE(context().canvases().activeNumber(), 0);
    QCOMPARE(m_window->canvases().at(0)->text().currentLine(), 1);
    open(QStringLiteral("zoo:seed"));
    QVERIFY2(!dialog->windowTitle().contains(QStringLiteral("gpt_mini")), qPrintable(dialog->windowTitle()));
    QCOMPARE(dialog->text()->toPlainText(), m_window->canvases().at(0)->text().twin());
    const QPointer<dialogs::TextDialog> kept(dialog);
    context().loader().close();
    QVERIFY(kept && kept->text()->toPlainText().isEmpty());
}

QTEST_MAIN(TestLeaving)

}  // namespace tst_leaving

#include "tst_leaving.moc"
