// Bisection, precision and ONNX Runtime in the real window, by keys and clicks, on networks whose numbers are worked
// out by hand. A library that stands for ONNX Runtime negates the model's input whatever it is asked for.

#include <QAbstractButton>
#include <QAction>
#include <QCheckBox>
#include <QComboBox>
#include <QDockWidget>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QRadioButton>
#include <QSplitter>
#include <QTableView>
#include <QTemporaryDir>
#include <QtTest>

#include "core/document/document.h"
#include "core/export/write_export.h"
#include "core/io/npz/npz.h"
#include "core/session/edits/edited_model.h"
#include "core/session/session.h"
#include "tests/support/onnx_file.h"
#include "tests/support/window_fixture.h"
#include "ui/context/bisection.h"
#include "ui/context/engine.h"
#include "ui/context/precision.h"
#include "ui/dialogs/bisect_dialog.h"
#include "ui/dialogs/engine_dialog.h"
#include "ui/dialogs/precision_dialog.h"
#include "ui/models/node_columns.h"
#include "ui/panels/bisection/bisection_panel.h"
#include "ui/panels/precision/precision_panel.h"
#include "ui/panels/tensor_viewer/paired_value.h"
#include "ui/panels/tensor_viewer/tensor_viewer_panel.h"
#include "ui/panels/tensor_viewer/value_pair.h"
#include "ui/widgets/banner.h"

namespace tst_bisection_panel {

using namespace sonde;
using models::BisectionTableModel;
using models::PrecisionTableModel;
namespace onnx = test::onnxfile;

namespace {

const QString kFakeEngine = QStringLiteral(SONDE_BINARY_DIR "/../tests/plugins/fake_ort.so");

}  // namespace

class TestBisectionPanel : public test::WindowFixture {
    Q_OBJECT

  private Q_SLOTS:
    void initTestCase();
    void init() {
        QSettings().clear();
        openWindow({1400, 900});
    }
    void cleanup() { closeWindow(); }

    void nothingTakesNoRoom();
    void anotherModelIsBisected();
    void thePieceIsSaved();
    void bothValuesAreShown();
    void eachValueIsListedOnce();
    void theSelectionIsFollowed();
    void editsAreSaid();
    void aNarrowPanelHasTheStepsBelow();
    void anEditedInputIsNamed();
    void anOperationWithAnEditIsThePart();
    void cancellingSaysSo();
    void modelsThatAgreeSaySo();
    void editsThatChangeNothingAgree();
    void theValueOfTheModelIsNoReference();
    void whatCannotBeOpenedSaysSo();
    void aLowerPrecisionIsListed();
    void aValueIsListedBeforeItsEditAndAfter();
    void errorsColourTheCanvas();
    void onlySelectedOperationsAreRounded();
    void aQuantisedModelMustFit();
    void anEngineNeedsConsent();
    void anEngineIsAReference();
    void aCrashIsAMessage();

  private:
    QString path(const char* name) const { return m_folder.filePath(QLatin1String(name)); }
    void openNetwork(const char* name) {
        open(path(name));
        context().inputs().setSpec(QStringLiteral("x"), {path("x.npz") + QStringLiteral("#in.x"), {}});
        settle();
    }
    graph::NodeId named(const char* name) { return context().model().graph().findNode(name); }
    canvas::ItemFlags flagsOf(const char* name) {
        const auto item = canvas()->view().scene()->itemOf(context().model().graph().node(named(name)).producer);
        return item ? canvas()->marks().of(item) : 0;
    }
    template <typename P>
    P* panel(const char* id) {
        return static_cast<P*>(m_window->docks().panel(QLatin1String(id)));
    }
    panels::BisectionPanel* bisected() { return panel<panels::BisectionPanel>("bisection"); }
    panels::PrecisionPanel* precise() { return panel<panels::PrecisionPanel>("precision"); }
    template <typename Dialog>
    Dialog* dialog(const char* action) {
        activate();
        canvas()->setFocus();
        QTest::keySequence(canvas(), m_window->actions().action(QLatin1String(action))->shortcut());
        QCoreApplication::processEvents();
        return m_window->template findChild<Dialog*>();
    }
    static void pressButton(QWidget* in, const char* name) {
        QTest::mouseClick(in->findChild<QAbstractButton*>(QLatin1String(name)), Qt::LeftButton);
    }
    static QString cell(QTableView* view, int row, int column) {
        return view->model()->index(row, column).data().toString();
    }
    /// By the dialog, as a user does.
    void bisectWith(const QString& file) {
        auto* const asked = dialog<dialogs::BisectDialog>("run.bisect");
        QVERIFY(asked && asked->isVisible());
        QTest::keyClicks(asked->findChild<QLineEdit*>(QStringLiteral("bisectPath")), file);
        pressButton(asked, "startBisect");
        settle();
    }
    /// 127 · 3 and 0.4 · 3 in 8 bits: 1.2 is lost.
    void openProduct() {
        openNetwork("product.onnx");
        const std::vector<io::NamedTensor> given{{"in.x", tensor::Tensor::of<float>({2}, {127, 0.4F})}};
        QVERIFY(io::writeNpz(path("large.npz").toStdString(), given));
        context().inputs().setSpec(QStringLiteral("x"), {path("large.npz") + QStringLiteral("#in.x"), {}});
        settle();
    }
    void doubled(const char* name) {
        session::Edit edit;
        edit.kind = session::Edit::Kind::Scale;
        edit.number = 2;
        context().edits().add(named(name), edit);
        settle();
    }
    void measure(const char* type) {
        auto* const asked = dialog<dialogs::PrecisionDialog>("run.precision");
        QVERIFY(asked && asked->isVisible());
        asked->findChild<QComboBox*>(QStringLiteral("precisionType"))->setCurrentText(QLatin1String(type));
        pressButton(asked, "startPrecision");
        settle();
    }

    QTemporaryDir m_folder;
};

/// h = −x, y = LeakyRelu(h) with 0.75, z = −y; in other.onnx with 1; product.onnx is p = 3 x, s = p + p.
void TestBisectionPanel::initTestCase() {
    prepare();
    qputenv("SONDE_ORT_HELPER", SONDE_BINARY_DIR "/sonde-ort");
    for (const auto& [name, alpha] : {std::pair{"model.onnx", 0.75F}, {"other.onnx", 1.0F}}) {
        onnx::Graph graph;
        graph.inputs = {onnx::valueInfo("x", 1, {2})};
        graph.outputs = {onnx::valueInfo("z", 1, {2})};
        graph.nodes = {{"Neg", {"x"}, {"h"}, "negate"},
                       {"LeakyRelu", {"h"}, {"y"}, "relu", "", {onnx::floatAttribute("alpha", alpha)}},
                       {"Neg", {"y"}, {"z"}, "again"}};
        QVERIFY(onnx::write(path(name), onnx::model(graph, {}, {onnx::opset("", 17)})));
    }
    onnx::Graph graph;
    const float three = 3;
    graph.inputs = {onnx::valueInfo("x", 1, {2})};
    graph.outputs = {onnx::valueInfo("s", 1, {2})};
    graph.initializers = {onnx::rawTensor("w", 1, {1}, {reinterpret_cast<const char*>(&three), sizeof three})};
    graph.nodes = {{"Mul", {"x", "w"}, {"p"}}, {"Add", {"p", "p"}, {"s"}}};
    QVERIFY(onnx::write(path("product.onnx"), onnx::model(graph, {}, {onnx::opset("", 17)})));
    graph.nodes = {{"Neg", {"x"}, {"y"}, "negate"}, {"Neg", {"y"}, {"s"}, "again"}};
    QVERIFY(onnx::write(path("twice.onnx"), onnx::model(graph, {}, {onnx::opset("", 17)})));
    const std::vector<io::NamedTensor> given{{"in.x", tensor::Tensor::of<float>({2}, {1, -2})}};
    QVERIFY(io::writeNpz(path("x.npz").toStdString(), given));
}

void TestBisectionPanel::nothingTakesNoRoom() {
    openNetwork("model.onnx");
    QVERIFY(!bisected()->hasContent() && !precise()->hasContent());
    QVERIFY(bisected()->visibleRegion().isEmpty() && precise()->visibleRegion().isEmpty());
}

/// Of h = (−1, 2) the models make (−0.75, 2) and (−1, 2).
void TestBisectionPanel::anotherModelIsBisected() {
    openNetwork("model.onnx");
    bisectWith(path("other.onnx"));
    QVERIFY(!m_window->findChild<dialogs::BisectDialog*>() ||
            !m_window->findChild<dialogs::BisectDialog*>()->isVisible());
    QVERIFY(bisected()->hasContent());
    QTRY_VERIFY(!bisected()->visibleRegion().isEmpty());
    QCOMPARE(bisected()->finding(),
             QStringLiteral("y differs from other.onnx: same inputs, other output: 1 operation"));
    const QString steps = bisected()->steps();
    QVERIFY2(steps.contains(QStringLiteral("At [0] the value is -0.75, in the other one -1")), qPrintable(steps));
    QVERIFY2(steps.contains(QStringLiteral("1. by itself: 2 of 3 values differ, first y")), qPrintable(steps));
    QVERIFY2(steps.contains(QStringLiteral("2. each operation on equal inputs: 1 of 3 values differs, first y")),
             qPrintable(steps));
    QCOMPARE(cell(bisected()->view(), 0, BisectionTableModel::Node), QStringLiteral("h"));
    QCOMPARE(cell(bisected()->view(), 0, BisectionTableModel::Role), QStringLiteral("given"));
    QCOMPARE(cell(bisected()->view(), 1, BisectionTableModel::Node), QStringLiteral("y"));
    QCOMPARE(cell(bisected()->view(), 1, BisectionTableModel::Role), QStringLiteral("differs"));
    QVERIFY(flagsOf("y") & canvas::kBisected);
    QVERIFY(!(flagsOf("h") & canvas::kBisected) && !(flagsOf("z") & canvas::kBisected));
    QTableView* const view = bisected()->view();
    click(view->viewport(), view->visualRect(view->model()->index(1, 0)).center());
    QCOMPARE(context().navigation().selection().node, named("y"));
    context().navigation().clearSelection();
    pressButton(bisected(), "selectPart");
    settle();
    QCOMPARE(context().navigation().selectedNodes(), std::vector<graph::NodeId>{named("y")});
    context().bisection().clear();
    settle();
    QVERIFY(!bisected()->hasContent());
    QVERIFY(!(flagsOf("y") & canvas::kBisected));
}

void TestBisectionPanel::thePieceIsSaved() {
    openNetwork("model.onnx");
    bisectWith(path("other.onnx"));
    QSignalSpy saved(&context().bisection(), &context::Bisection::saved);
    context().bisection().savePiece(path("piece.onnx"));
    QTRY_COMPARE(saved.count(), 1);
    session::Session alone;
    QVERIFY(alone.open(path("piece.onnx").toStdString()));
    const auto checked = alone.check(path("piece.npz").toStdString());
    QVERIFY(checked && checked->cases.size() == 1 && checked->cases.front().ok());
    QSignalSpy failed(&context().bisection(), &context::Bisection::failed);
    context().bisection().savePiece(QStringLiteral("/nowhere/piece.onnx"));
    QTRY_COMPARE(failed.count(), 1);
    settle();
}

void TestBisectionPanel::bothValuesAreShown() {
    openNetwork("model.onnx");
    bisectWith(path("other.onnx"));
    pressButton(bisected(), "bothValues");
    settle();
    auto* const viewer = panel<panels::TensorViewerPanel>("tensor_viewer");
    QTRY_VERIFY(!viewer->visibleRegion().isEmpty());
    QCOMPARE(viewer->node(), named("y"));
    QTRY_VERIFY(viewer->paired()->value());
    QCOMPARE(viewer->paired()->value()->tensor().toDouble(0), -1.0);
    const tensor::Value* const own = context().runs().value(named("y"));
    QVERIFY(own);
    QCOMPARE(own->tensor().toDouble(0), -0.75);
    QCOMPARE(viewer->pair()->mode(), panels::ValuePair::Mode::SideBySide);
    QTRY_COMPARE(viewer->pair()->differenceText(), QStringLiteral("Differ by up to 0.25 in 1 of 2 elements"));
}

/// Both results of one operation differ by themselves: the smallest element, and where it is.
void TestBisectionPanel::eachValueIsListedOnce() {
    for (const auto& [name, largest] : {std::pair{"most.onnx", 1}, {"least.onnx", 0}}) {
        onnx::Graph graph;
        constexpr int kFloat = 1, kInt64 = 7;
        graph.inputs = {onnx::valueInfo("x", kFloat, {2})};
        graph.outputs = {onnx::valueInfo("v", kFloat, {1}), onnx::valueInfo("i", kInt64, {1})};
        graph.initializers = {onnx::rawTensor("k", kInt64, {1}, std::string("\1\0\0\0\0\0\0\0", 8))};
        graph.nodes = {{"TopK", {"x", "k"}, {"v", "i"}, "", "", {onnx::intAttribute("largest", largest)}}};
        QVERIFY(onnx::write(path(name), onnx::model(graph, {}, {onnx::opset("", 17)})));
    }
    openNetwork("most.onnx");
    bisectWith(path("least.onnx"));
    QTableView* const view = bisected()->view();
    QStringList rows;
    for (int row = 0; row < view->model()->rowCount(); ++row)
        rows << cell(view, row, BisectionTableModel::Node) + QStringLiteral(": ") +
                    cell(view, row, BisectionTableModel::Role);
    QCOMPARE(rows,
             (QStringList{QStringLiteral("x: given"), QStringLiteral("v: differs"), QStringLiteral("i: differs too")}));
}

void TestBisectionPanel::theSelectionIsFollowed() {
    openNetwork("model.onnx");
    bisectWith(path("other.onnx"));
    QTableView* const view = bisected()->view();
    context().navigation().navigateTo(named("y"));
    settle();
    QCOMPARE(view->currentIndex().siblingAtColumn(BisectionTableModel::Node).data().toString(), QStringLiteral("y"));
    // What is no operation of the part has no row.
    context().navigation().navigateTo(named("z"));
    settle();
    QVERIFY(!view->currentIndex().isValid());
    QCOMPARE(context().navigation().selection().node, named("z"));
}

/// Those of now are not those that it was found with.
void TestBisectionPanel::editsAreSaid() {
    openNetwork("model.onnx");
    bisectWith(path("other.onnx"));
    QVERIFY2(bisected()->steps().contains(QStringLiteral("On inputs")), qPrintable(bisected()->steps()));
    QVERIFY2(!bisected()->finding().contains(QStringLiteral("edit")), qPrintable(bisected()->finding()));
    session::Edit edit;
    edit.kind = session::Edit::Kind::Scale;
    edit.number = 2;
    context().edits().add(named("h"), edit);
    settle();
    QVERIFY2(bisected()->finding().endsWith(QStringLiteral("1 operation (without the present edits)")),
             qPrintable(bisected()->finding()));
}

void TestBisectionPanel::aNarrowPanelHasTheStepsBelow() {
    openNetwork("model.onnx");
    bisectWith(path("other.onnx"));
    auto* const splitter = bisected()->findChild<QSplitter*>();
    QVERIFY(splitter);
    QDockWidget* const dock = m_window->docks().dock(QStringLiteral("bisection"));
    dock->setFloating(true);
    auto* const finding = bisected()->findChild<QLabel*>(QStringLiteral("bisectionFinding"));
    auto* const save = bisected()->findChild<QPushButton*>(QStringLiteral("savePiece"));
    // All of what was found is there, however many lines it takes.
    const auto isWhole = [finding] {
        return finding->text().endsWith(QStringLiteral("same inputs, other output: 1 operation")) &&
               !finding->text().contains(QChar(0x2026)) &&
               finding->height() >= finding->heightForWidth(finding->width());
    };
    dock->resize(700, 300);
    QTRY_COMPARE(splitter->orientation(), Qt::Horizontal);
    QTRY_VERIFY(isWhole() && save->geometry().left() > finding->geometry().right());
    dock->resize(480, 400);
    QTRY_COMPARE(splitter->orientation(), Qt::Vertical);
    QTRY_VERIFY(isWhole() && save->geometry().top() > finding->geometry().bottom());
}

/// Of a model that was saved with an edit of x: nothing is cut out, and x is what is selected.
void TestBisectionPanel::anEditedInputIsNamed() {
    session::Session session;
    QVERIFY(session.open(path("model.onnx").toStdString()));
    session::Edit edit;
    edit.kind = session::Edit::Kind::Scale;
    edit.number = 2;
    session::EditPlace place;
    QVERIFY(session.addEdit(session.document()->graph->findNode("x"), edit, place));
    const auto edited = session::editedDocument(*session.document(), session.edits());
    QVERIFY(edited);
    const std::string file = path("edited.onnx").toStdString();
    QVERIFY(exporting::writeExport(**edited, {exporting::ExportFormat::Onnx, {}}, file, {}));
    openNetwork("model.onnx");
    bisectWith(path("edited.onnx"));
    QCOMPARE(bisected()->finding(),
             QStringLiteral("x (by its edit) differs from edited.onnx: an input that is edited"));
    QCOMPARE(bisected()->view()->model()->rowCount(), 1);
    QCOMPARE(cell(bisected()->view(), 0, BisectionTableModel::Node), QStringLiteral("x"));
    QCOMPARE(cell(bisected()->view(), 0, BisectionTableModel::Role), QStringLiteral("differs"));
    QVERIFY(!bisected()->findChild<QPushButton*>(QStringLiteral("savePiece"))->isEnabled());
    QVERIFY(flagsOf("x") & canvas::kBisected);
    pressButton(bisected(), "selectPart");
    settle();
    QCOMPARE(context().navigation().selectedNodes(), std::vector<graph::NodeId>{named("x")});
}

/// Both runs have the edit: what differs is what it overwrites, which no view of the run has.
void TestBisectionPanel::anOperationWithAnEditIsThePart() {
    openProduct();
    doubled("p");
    context().bisection().start({context::Bisection::Wanted::Kind::Precision, {}, QStringLiteral("int8"), {}});
    settle();
    QVERIFY(context().bisection().outcome());
    QCOMPARE(context().bisection().part(), std::vector<graph::NodeId>{named("p")});
    QVERIFY(flagsOf("p") & canvas::kBisected);
    QVERIFY(!(flagsOf("s") & canvas::kBisected));
    QVERIFY(!bisected()->findChild<QPushButton*>(QStringLiteral("bothValues"))->isEnabled());
    pressButton(bisected(), "selectPart");
    settle();
    QCOMPARE(context().navigation().selectedNodes(), std::vector<graph::NodeId>{named("p")});
}

void TestBisectionPanel::cancellingSaysSo() {
    openNetwork("model.onnx");
    // The second waits until the first has come back, so that it cannot be done before it is cancelled.
    for (int i = 0; i < 2; ++i)
        context().bisection().start({context::Bisection::Wanted::Kind::File, path("other.onnx"), {}, {}, false});
    context().bisection().cancel();
    settle();
    QVERIFY(context().bisection().error());
    QStringList texts;
    for (const QLabel* label : bisected()->findChildren<QLabel*>())
        if (label->isVisible()) texts << label->text();
    QVERIFY2(texts.contains(QStringLiteral("Cancelled")), qPrintable(texts.join(u'|')));
}

void TestBisectionPanel::modelsThatAgreeSaySo() {
    openNetwork("model.onnx");
    bisectWith(path("model.onnx"));
    QCOMPARE(bisected()->finding(), QStringLiteral("model.onnx: the outputs agree"));
    QVERIFY(!bisected()->findChild<QPushButton*>(QStringLiteral("savePiece"))->isVisible());
}

void TestBisectionPanel::editsThatChangeNothingAgree() {
    openNetwork("model.onnx");
    session::Edit edit;
    edit.kind = session::Edit::Kind::Scale;
    edit.number = 1;
    context().edits().add(named("h"), edit);
    settle();
    bisectWith(path("model.onnx"));
    QCOMPARE(bisected()->finding(), QStringLiteral("model.onnx: the outputs agree (with 1 edit)"));
}

/// y is (−0.75, 2), and said to be (5, 2).
void TestBisectionPanel::theValueOfTheModelIsNoReference() {
    const auto of = [](float one, float other) { return tensor::Tensor::of<float>({2}, {one, other}); };
    const std::vector<io::NamedTensor> reference{
        {"in.x", of(1, -2)}, {"node.h", of(-1, 2)}, {"node.y", of(5, 2)}, {"out.z", of(-5, -2)}};
    QVERIFY(io::writeNpz(path("reference.npz").toStdString(), reference));
    openNetwork("model.onnx");
    bisectWith(path("reference.npz"));
    QVERIFY2(bisected()->steps().contains(QStringLiteral("At [0] the value is -0.75, in the other one 5")),
             qPrintable(bisected()->steps()));
}

void TestBisectionPanel::whatCannotBeOpenedSaysSo() {
    openNetwork("model.onnx");
    bisectWith(path("nothing.onnx"));
    QVERIFY(bisected()->hasContent());
    QVERIFY(context().bisection().error());
    bool isTold = false;
    for (const QLabel* label : bisected()->findChildren<QLabel*>())
        isTold = isTold || label->text().contains(QStringLiteral("nothing.onnx"));
    QVERIFY(isTold);
}

/// int8: of x = (127, 0.4) the multiples of 1 are (127, 0). p is (381, 0), not (381, 1.2); s is (762, 0), not
/// (762, 2.4).
void TestBisectionPanel::aLowerPrecisionIsListed() {
    openProduct();
    measure("int8");
    QTRY_VERIFY(!precise()->visibleRegion().isEmpty());
    QVERIFY2(precise()->summary().startsWith(QStringLiteral("int8 at 2 operations: the error begins at p")),
             qPrintable(precise()->summary()));
    QTableView* const view = precise()->view();
    QCOMPARE(view->model()->rowCount(), 2);
    QCOMPARE(cell(view, 0, PrecisionTableModel::Node), QStringLiteral("p"));
    QCOMPARE(cell(view, 0, PrecisionTableModel::MaxAbsolute), QStringLiteral("1.2"));
    QCOMPARE(cell(view, 0, PrecisionTableModel::Before), QStringLiteral("equal"));
    QCOMPARE(cell(view, 1, PrecisionTableModel::Node), QStringLiteral("s"));
    QCOMPARE(cell(view, 1, PrecisionTableModel::MaxAbsolute), QStringLiteral("2.4"));
    // 10 log10((381² + 1.2²) / 1.2²)
    QCOMPARE(cell(view, 0, PrecisionTableModel::Sqnr), QStringLiteral("50.0 dB"));
    click(view->viewport(), view->visualRect(view->model()->index(1, 1)).center());
    QCOMPARE(context().navigation().selection().node, named("s"));
}

/// p = 3 x is rounded, and so is its double, by steps of 6: twice the error, the same share.
void TestBisectionPanel::aValueIsListedBeforeItsEditAndAfter() {
    openProduct();
    doubled("p");
    measure("int8");
    QTableView* const view = precise()->view();
    QTRY_COMPARE(view->model()->rowCount(), 3);
    const auto row = [view](int at) {
        QStringList cells;
        for (const int column : {PrecisionTableModel::Node, PrecisionTableModel::Operator, PrecisionTableModel::Rounded,
                                 PrecisionTableModel::Before, PrecisionTableModel::MaxAbsolute})
            cells << cell(view, at, column);
        return cells.join(QStringLiteral("; "));
    };
    QCOMPARE(row(0), QStringLiteral("p before its edit; Mul; rounded; equal; 1.2"));
    QCOMPARE(row(1), QStringLiteral("p; edit; rounded; 50.0 dB; 2.4"));
    QCOMPARE(cell(view, 2, PrecisionTableModel::Node), QStringLiteral("s"));
}

void TestBisectionPanel::errorsColourTheCanvas() {
    openNetwork("product.onnx");
    const QString before = context().settings().colorBy();
    measure("bfloat16");
    QCOMPARE(context().settings().colorBy(), QStringLiteral("precision"));
    // 3 · 1 and 3 · −2 are numbers of bfloat16: nothing is lost.
    const models::NodeMeasures measures(context().model(), context().runs(), context().valueMeasures(),
                                        context().comparison(), &context().precision());
    QCOMPARE(measures.number(models::PrecisionColumn, named("p")), std::optional(0.0));
    pressButton(precise(), "precisionClose");
    settle();
    QCOMPARE(context().settings().colorBy(), before);
    QVERIFY(!precise()->hasContent());
}

void TestBisectionPanel::onlySelectedOperationsAreRounded() {
    openNetwork("product.onnx");
    context().navigation().navigateTo(named("s"));
    settle();
    measure("float16");
    QCOMPARE(context().precision().report()->chosen, std::size_t{1});
    QCOMPARE(cell(precise()->view(), 0, PrecisionTableModel::Rounded), QString());
    QCOMPARE(cell(precise()->view(), 1, PrecisionTableModel::Rounded), QStringLiteral("rounded"));
}

void TestBisectionPanel::aQuantisedModelMustFit() {
    openNetwork("product.onnx");
    auto* const asked = dialog<dialogs::PrecisionDialog>("run.precision");
    QVERIFY(asked);
    asked->findChild<QRadioButton*>(QStringLiteral("precisionQuantised"))->click();
    QVERIFY(!asked->findChild<QPushButton*>(QStringLiteral("startPrecision"))->isEnabled());
    QTest::keyClicks(asked->findChild<QLineEdit*>(QStringLiteral("precisionPath")), path("nothing.onnx"));
    pressButton(asked, "startPrecision");
    settle();
    QVERIFY(context().precision().error());
    QVERIFY(precise()->hasContent());
}

void TestBisectionPanel::anEngineNeedsConsent() {
    qputenv("XDG_CONFIG_HOME", m_folder.path().toUtf8());
    openNetwork("twice.onnx");
    auto* const asked = dialog<dialogs::EngineDialog>("compare.engine");
    QVERIFY(asked && asked->isVisible());
    auto* const library = asked->findChild<QLineEdit*>(QStringLiteral("engineLibrary"));
    auto* const consent = asked->findChild<QCheckBox*>(QStringLiteral("engineConsent"));
    auto* const start = asked->findChild<QPushButton*>(QStringLiteral("startEngine"));
    QVERIFY(!start->isEnabled());
    library->setText(path("nothing.so"));
    QTRY_VERIFY(asked->findChild<QLabel*>(QStringLiteral("engineNote"))->text().contains(QStringLiteral("nothing.so")));
    QVERIFY(!start->isEnabled());
    library->setText(kFakeEngine);
    QTRY_VERIFY(consent->isVisible());
    QVERIFY(!start->isEnabled());
    consent->click();
    QVERIFY(start->isEnabled());
    start->click();
    settle();
    QTRY_VERIFY(context().comparison().isKnown());
    QCOMPARE(context().comparison().title(), QStringLiteral("ONNX Runtime 1.4.9"));
    // Agreed to: not asked again.
    auto* const again = dialog<dialogs::EngineDialog>("compare.engine");
    QTRY_VERIFY(again->findChild<QPushButton*>(QStringLiteral("startEngine"))->isEnabled());
    QVERIFY(!again->findChild<QCheckBox*>(QStringLiteral("engineConsent"))->isVisible());
    again->reject();
}

/// y = −x agrees; s = x is −x there.
void TestBisectionPanel::anEngineIsAReference() {
    openNetwork("twice.onnx");
    const QString given = context().inputs().inputData();
    context().engine().compare(kFakeEngine, true);
    settle();
    QVERIFY(context().comparison().isKnown() && !context().comparison().isStale());
    QCOMPARE(context().inputs().inputData(), given);  // not a file that goes again
    QCOMPARE(context().comparison().diverging(), std::vector<graph::NodeId>{named("s")});
    QVERIFY(context().comparison().of(named("y")) && context().comparison().of(named("y"))->ok);
    const models::NodeMeasures measures(context().model(), context().runs(), context().valueMeasures(),
                                        context().comparison(), nullptr, &context().engine());
    QVERIFY(measures.number(models::EngineTimeColumn, named("y")).value_or(0) > 0);
    auto* const viewer = panel<panels::TensorViewerPanel>("tensor_viewer");
    context().navigation().navigateTo(named("s"));
    settle();
    QVERIFY(viewer->showBeside(QStringLiteral("reference")));
    QTRY_VERIFY(viewer->paired()->value());
    QCOMPARE(viewer->paired()->value()->tensor().toDouble(0), -1.0);
    context().comparison().clear();
    settle();
    QVERIFY(context().engine().file().isEmpty());
}

void TestBisectionPanel::aCrashIsAMessage() {
    openNetwork("twice.onnx");
    qputenv("SONDE_FAKE_ORT", "crash");
    context().engine().compare(kFakeEngine, true);
    settle();
    QVERIFY(!context().comparison().isKnown());
    QTRY_VERIFY(m_window->banner()->isVisible());
    QVERIFY2(m_window->banner()->text().contains(QStringLiteral("ONNX Runtime")),
             qPrintable(m_window->banner()->text()));
    context().bisection().start({context::Bisection::Wanted::Kind::Engine, kFakeEngine, {}, {}, true});
    settle();
    qunsetenv("SONDE_FAKE_ORT");
    QVERIFY(context().bisection().error());
}

QTEST_MAIN(TestBisectionPanel)

}  // namespace tst_bisection_panel

#include "tst_bisection_panel.moc"
