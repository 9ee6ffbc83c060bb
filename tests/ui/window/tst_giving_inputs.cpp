// Inputs in the window: archives that fill several, fields for numbers, and values that contradict the model.

#include <QCheckBox>
#include <QComboBox>
#include <QDropEvent>
#include <QLabel>
#include <QLineEdit>
#include <QMimeData>
#include <QScrollArea>
#include <QScrollBar>

#include <algorithm>

#include "core/io/npz/npz.h"
#include "tests/support/onnx_file.h"
#include "tests/support/window_fixture.h"
#include "ui/context/comparison.h"
#include "ui/widgets/number_field.h"

namespace tst_giving_inputs {

using namespace sonde;
using context::ModelInput;
using io::NamedTensor;
using tensor::Tensor;

namespace {

constexpr int kFloat = 1, kInt64 = 7, kBool = 9;

}  // namespace

class TestGivingInputs : public test::WindowFixture {
    Q_OBJECT
  private Q_SLOTS:
    void initTestCase();
    void init() {
        QSettings().clear();
        openWindow();
    }
    void cleanup() { closeWindow(); }
    void aDroppedArchiveFillsAllInputs();
    void anArchiveForOneInputFillsTheOthers();
    void theOneArrayLeftIsTakenWithANote();
    void undecidedArraysAreToldAtTheInput();
    void aDroppedArchiveThatFitsNothingChangesNothing();
    void oneNumberIsTypedAndStepped();
    void oneRealNumberIsTyped();
    void aRunTakesWhatIsTyped();
    void aComparisonTakesWhatIsTyped();
    void aNumberThatDoesNotFitIsRefused();
    void aBoolIsACheckBox();
    void listsAreTypedWithOrWithoutBrackets();
    void numbersAreRememberedAndFollowed();
    void contradictionsStandAtTheInputAndStopTheRun();
    void anEmptiedFieldGivesNothing();
    void aRefusedInputIsScrolledIntoView();
    void liveTakesNumbersAsTheyAreTyped();
    void oneSymbolHasOneSize();
    void anInputThatWasSetLaterIsNotFilled();
    void whatNobodyChoseFollowsTheData();

  private:
    QString path(const char* name) const { return m_folder.filePath(QLatin1String(name)); }
    QString write(const char* name, const std::vector<NamedTensor>& arrays) const {
        return io::writeNpz(path(name).toStdString(), arrays) ? path(name) : QString();
    }
    QFrame* editor(const char* input) {
        m_window->docks().show(QStringLiteral("inputs"));
        QCoreApplication::processEvents();
        return m_window->findChild<QFrame*>(QStringLiteral("input.") + QLatin1String(input));
    }
    /// The text under an input.
    QString stateOf(const char* input) {
        QString text;
        for (const QLabel* label : editor(input)->findChildren<QLabel*>())
            if (label->isVisible() && label->wordWrap()) text = label->text();
        return text;
    }
    const ModelInput& given(const char* input) { return *context().inputs().find(QLatin1String(input)); }
    void choose(const char* input, const char* mode) {
        auto* box = editor(input)->findChild<QComboBox*>();
        box->setFocus();
        const int index = box->findText(QLatin1String(mode));
        QVERIFY2(index >= 0, mode);
        box->setCurrentIndex(index);
        Q_EMIT box->activated(index);
        settle();
    }
    void type(QWidget* field, const char* text) {
        field->setFocus();
        QTest::keyClick(field, Qt::Key_A, Qt::ControlModifier);
        QTest::keyClicks(field, QLatin1String(text));
        QTest::keyClick(field, Qt::Key_Return);
        settle();
    }
    void empty(QWidget* field) {
        field->setFocus();
        QTest::keyClick(field, Qt::Key_A, Qt::ControlModifier);
        QTest::keyClick(field, Qt::Key_Delete);
        QTest::keyClick(field, Qt::Key_Return);
        settle();
    }
    QLineEdit* sourceOf(const char* input) {
        for (QLineEdit* edit : editor(input)->findChildren<QLineEdit*>(QString(), Qt::FindDirectChildrenOnly))
            if (edit->isVisible()) return edit;
        return nullptr;
    }
    void drop(QWidget* on, const QString& file) {
        QMimeData data;
        data.setUrls({QUrl::fromLocalFile(file)});
        QDragEnterEvent enter(QPoint(5, 5), Qt::CopyAction, &data, Qt::LeftButton, Qt::NoModifier);
        QCoreApplication::sendEvent(on, &enter);
        QVERIFY(enter.isAccepted());
        QDropEvent event(QPointF(5, 5), Qt::CopyAction, &data, Qt::LeftButton, Qt::NoModifier);
        QCoreApplication::sendEvent(on, &event);
        QVERIFY(event.isAccepted());
        settle();
    }

    QTemporaryDir m_folder;
    QString m_double;  ///< y = input + input, input float32[N,3,1,2]
    QString
        m_several;  ///< y = a * b + scale: float32[N,2], float32[N,2], float32[]; flag bool[], n int64[], ids int64[3]
};

void TestGivingInputs::initTestCase() {
    prepare();
    using namespace test::onnxfile;
    m_double = path("double.onnx");
    Graph graph;
    graph.nodes = {Node{"Add", {"input", "input"}, {"y"}}};
    graph.inputs = {valueInfo("input", kFloat, {-1, 3, 1, 2})};
    graph.outputs = {valueInfo("y", kFloat, {-1, 3, 1, 2})};
    QVERIFY(test::onnxfile::write(m_double, test::onnxfile::model(graph)));
    m_several = path("several.onnx");
    Graph several;
    several.nodes = {Node{"Mul", {"a", "b"}, {"ab"}}, Node{"Add", {"ab", "scale"}, {"y"}},
                     Node{"Identity", {"flag"}, {"f"}}, Node{"Identity", {"n"}, {"m"}},
                     Node{"Identity", {"ids"}, {"i"}}};
    several.inputs = {valueInfo("a", kFloat, {-1, 2}), valueInfo("b", kFloat, {-1, 2}), valueInfo("scale", kFloat, {}),
                      valueInfo("flag", kBool, {}),    valueInfo("n", kInt64, {}),      valueInfo("ids", kInt64, {3})};
    several.outputs = {valueInfo("y", kFloat, {-1, 2}), valueInfo("f", kBool, {}), valueInfo("m", kInt64, {}),
                       valueInfo("i", kInt64, {3})};
    QVERIFY(test::onnxfile::write(m_several, test::onnxfile::model(several)));
}

void TestGivingInputs::aDroppedArchiveFillsAllInputs() {
    open(m_several);
    const Tensor row = Tensor::of<float>({1, 2}, {3, 4});
    drop(m_window.get(), write("all.npz", {{"in.a", row},
                                           {"b", row},
                                           {"in.n", Tensor::scalar<std::int64_t>(7)},
                                           {"in.ids", Tensor::of<std::int64_t>({3}, {1, 2, 3})},
                                           {"in.flag", Tensor::scalar<bool>(true)},
                                           {"in.scale", Tensor::scalar<float>(100)}}));
    for (const char* name : {"a", "b", "scale", "flag", "n", "ids"}) {
        QCOMPARE(given(name).spec.source, path("all.npz"));
        QVERIFY2(given(name).value.has_value(), name);
        QVERIFY2(stateOf(name).contains("Given: "), qPrintable(stateOf(name)));
    }
    run();
    QCOMPARE(context().runs().recording()->outputs.front().tensor().toDouble(1), 116.0);
}

void TestGivingInputs::anArchiveForOneInputFillsTheOthers() {
    open(m_several);
    const Tensor row = Tensor::of<float>({1, 2}, {3, 4}), second = Tensor::of<float>({2, 2}, {5, 6, 7, 8});
    const QString file =
        write("two.npz", {{"in.a", row}, {"in.b", row}, {"case1.in.a", second}, {"case1.in.b", second}});
    drop(editor("b"), file);
    QCOMPARE(given("a").spec.source, file);
    QCOMPARE(given("b").spec.source, file);
    QCOMPARE(given("n").spec.source, QStringLiteral("0"));
    // Another case, typed.
    type(sourceOf("a"), qPrintable(file + "#case1"));
    QCOMPARE(given("b").spec.source, file + "#case1");
    QCOMPARE(given("b").value->typeText(), std::string("float32[2,2]"));
    // One array of it fills nothing else.
    type(sourceOf("a"), qPrintable(file + "#case1.in.b"));
    QCOMPARE(given("b").spec.source, file + "#case1");
}

void TestGivingInputs::theOneArrayLeftIsTakenWithANote() {
    open(m_double);
    drop(m_window.get(), write("image.npz", {{"in.image", Tensor::of<float>({1, 3, 1, 2}, {1, 2, 3, 4, 5, 6})},
                                             {"out.y", Tensor::scalar<float>(0)}}));
    QVERIFY2(stateOf("input").contains("Note: array 'in.image' is used for input 'input'"),
             qPrintable(stateOf("input")));
    run();
    QCOMPARE(context().runs().recording()->outputs.front().tensor().toDouble(5), 12.0);
}

void TestGivingInputs::undecidedArraysAreToldAtTheInput() {
    open(m_double);
    const Tensor image = Tensor::of<float>({1, 3, 1, 2}, {1, 2, 3, 4, 5, 6});
    drop(editor("input"), write("undecided.npz", {{"in.image", image}, {"in.photo", image}}));
    const QString text = stateOf("input");
    QVERIFY2(text.contains("the file has no array for input 'input' (expected key 'in.input' or 'input')"),
             qPrintable(text));
    QVERIFY2(text.contains("arrays without an input: in.image float32[1,3,1,2], in.photo float32[1,3,1,2]"),
             qPrintable(text));
    key(Qt::Key_F5);
    QCOMPARE(context().runs().state(), context::RunState::Failed);
    QVERIFY(!context().runs().recording());
}

void TestGivingInputs::aDroppedArchiveThatFitsNothingChangesNothing() {
    open(m_several);
    QSignalSpy told(&context().messages(), &context::Messages::bannerRequested);
    drop(m_window.get(), write("nothing.npz", {{"in.z", Tensor::scalar<float>(1)}}));
    QCOMPARE(told.count(), 1);
    QVERIFY(given("a").spec.source.startsWith("#rand"));
    QVERIFY2(context().messages().all().back().text.contains("the file has no array for input 'a'"),
             qPrintable(context().messages().all().back().text));
    QVERIFY2(context().messages().all().back().hint.contains("arrays without an input: in.z float32[]"),
             qPrintable(context().messages().all().back().hint));
}

void TestGivingInputs::oneNumberIsTypedAndStepped() {
    open(m_several);
    auto* field = editor("n")->findChild<widgets::NumberField*>();
    QVERIFY(field && field->isVisible());
    QCOMPARE(field->number(), QStringLiteral("0"));
    type(field, "16000");
    QCOMPARE(given("n").spec.source, QStringLiteral("16000"));
    QCOMPARE(given("n").value->tensor().toInt64(0), std::int64_t{16000});
    QTest::keyClick(field, Qt::Key_Up);
    QTest::keyClick(field, Qt::Key_Up);
    QTest::keyClick(field, Qt::Key_PageDown);
    settle();
    QCOMPARE(given("n").value->tensor().toInt64(0), std::int64_t{15992});
    type(field, "-9223372036854775808");
    QCOMPARE(given("n").value->tensor().toInt64(0), std::numeric_limits<std::int64_t>::min());
    // Letters do not enter the field.
    type(field, "1x2");
    QCOMPARE(given("n").spec.source, QStringLiteral("12"));
}

void TestGivingInputs::oneRealNumberIsTyped() {
    open(m_several);
    auto* field = editor("scale")->findChild<widgets::NumberField*>();
    QVERIFY(field && field->isVisible());
    type(field, "-2.5e-1");
    QCOMPARE(given("scale").value->tensor().toDouble(0), -0.25);
    QTest::keyClick(field, Qt::Key_Up);
    settle();
    QCOMPARE(given("scale").value->tensor().toDouble(0), static_cast<double>(-0.24f));
}

/// F5, the tool bar and the panel's button take what the field shows, also while it has the focus.
void TestGivingInputs::aRunTakesWhatIsTyped() {
    open(m_several);
    const auto typeOnly = [](QWidget* field, const char* text) {
        field->setFocus();
        QTest::keyClick(field, Qt::Key_A, Qt::ControlModifier);
        QTest::keyClicks(field, QLatin1String(text));
    };
    const auto ran = [this](const char* input) {
        const auto& all = context().inputs().all();
        const auto at = std::ranges::find(all, QLatin1String(input), &ModelInput::name);
        return context().runs().lastInputs().at(static_cast<std::size_t>(at - all.begin())).tensor().toDouble(0);
    };
    choose("a", "Numbers");
    typeOnly(sourceOf("a"), "[[7,8]]");
    QSignalSpy finished(&context().runs(), &context::Runs::runFinished);
    const auto wait = [&] {
        QTRY_VERIFY_WITH_TIMEOUT(!finished.isEmpty(), 30000);
        finished.clear();
        settle();
    };
    QTest::keyClick(sourceOf("a"), Qt::Key_F5);
    wait();
    QCOMPARE(ran("a"), 7.0);
    typeOnly(sourceOf("a"), "[[9,8]]");
    m_window->actions().action(QStringLiteral("run.start"))->trigger();
    wait();
    QCOMPARE(ran("a"), 9.0);
    QCOMPARE(context().runs().staleReason(), QString());
    auto* field = editor("n")->findChild<widgets::NumberField*>();
    typeOnly(field, "42");
    QTest::keyClick(field, Qt::Key_F5);
    wait();
    QCOMPARE(ran("n"), 42.0);
    QCOMPARE(given("n").spec.source, QStringLiteral("42"));
}

/// The model is run on what the field shows before it is compared with the baseline.
void TestGivingInputs::aComparisonTakesWhatIsTyped() {
    open(m_several);
    auto* field = editor("n")->findChild<widgets::NumberField*>();
    type(field, "42");
    run();
    key(Qt::Key_K, Qt::ControlModifier | Qt::ShiftModifier);
    field->setFocus();
    QTest::keyClick(field, Qt::Key_A, Qt::ControlModifier);
    QTest::keyClicks(field, QStringLiteral("11"));
    QTest::keyClick(field, Qt::Key_D, Qt::ControlModifier | Qt::ShiftModifier);
    QTRY_VERIFY_WITH_TIMEOUT(context().comparison().isKnown() && !context().comparison().isActive(), 30000);
    settle();
    QCOMPARE(given("n").spec.source, QStringLiteral("11"));
    QCOMPARE(context().runs().staleReason(), QString());
    QVERIFY(!context().comparison().isStale());
    QVERIFY2(context().comparison().summary().contains(QStringLiteral("which was run on other values of n")),
             qPrintable(context().comparison().summary()));
}

void TestGivingInputs::aNumberThatDoesNotFitIsRefused() {
    open(m_several);
    auto* field = editor("n")->findChild<widgets::NumberField*>();
    type(field, "15");
    type(field, "99999999999999999999");
    QCOMPARE(given("n").spec.source, QStringLiteral("99999999999999999999"));
    QVERIFY(given("n").error.has_value());
    QVERIFY2(stateOf("n").contains("range"), qPrintable(stateOf("n")));
    key(Qt::Key_F5);
    QVERIFY(context().runs().refusal().has_value());
    QVERIFY(!context().runs().recording());
}

void TestGivingInputs::aBoolIsACheckBox() {
    open(m_several);
    QCheckBox* box = nullptr;
    for (QCheckBox* each : editor("flag")->findChildren<QCheckBox*>())
        if (each->objectName() == QLatin1String("flag")) box = each;
    QVERIFY(box && box->isVisible());
    QVERIFY(!box->isChecked());
    box->setFocus();
    QTest::keyClick(box, Qt::Key_Space);
    settle();
    QCOMPARE(given("flag").spec.source, QStringLiteral("true"));
    QCOMPARE(given("flag").value->tensor().toInt64(0), std::int64_t{1});
    QTest::mouseClick(box, Qt::LeftButton, {}, QPoint(8, box->height() / 2));
    settle();
    QCOMPARE(given("flag").value->tensor().toInt64(0), std::int64_t{0});
}

void TestGivingInputs::listsAreTypedWithOrWithoutBrackets() {
    open(m_several);
    QCOMPARE(given("ids").spec.source, QStringLiteral("[0,0,0]"));
    type(sourceOf("ids"), "101, 2054,-3");
    QCOMPARE(given("ids").spec.source, QStringLiteral("[101, 2054,-3]"));
    QCOMPARE(given("ids").value->tensor().toInt64(2), std::int64_t{-3});
    type(sourceOf("ids"), "[1,2]");
    QVERIFY2(stateOf("ids").contains("input 'ids' expects int64[3], got int64[2] (dimension 0: 3 declared, 2 given)"),
             qPrintable(stateOf("ids")));
    choose("a", "Numbers");
    type(sourceOf("a"), "1.5,2");
    QCOMPARE(given("a").spec.source, QStringLiteral("[[1.5,2]]"));
    QCOMPARE(given("a").value->typeText(), std::string("float32[1,2]"));
}

void TestGivingInputs::numbersAreRememberedAndFollowed() {
    open(m_several);
    type(editor("n")->findChild<widgets::NumberField*>(), "8000");
    QVERIFY(context().inputs().inputData().contains("n:8000"));
    closeWindow();
    openWindow();
    open(m_several);
    QCOMPARE(given("n").spec.source, QStringLiteral("8000"));
    QCOMPARE(editor("n")->findChild<widgets::NumberField*>()->number(), QStringLiteral("8000"));
}

void TestGivingInputs::contradictionsStandAtTheInputAndStopTheRun() {
    open(m_double);
    type(sourceOf("input"), "#rand(0,1,1,4,1,2)");
    const QString expected =
        "input 'input' expects float32[N,3,1,2], got float32[1,4,1,2] (dimension 1: 3 declared, 4 given)";
    QVERIFY2(stateOf("input").contains(expected), qPrintable(stateOf("input")));
    key(Qt::Key_F5);
    QCOMPARE(context().runs().state(), context::RunState::Failed);
    QCOMPARE(context().messages().all().back().text, expected);
    QVERIFY(!context().runs().recording());
    type(sourceOf("input"), "#rand(0,1,5,3,1,2)");
    run();
}

/// The field stays, so that something else can be typed; a run is refused by the input's name.
void TestGivingInputs::anEmptiedFieldGivesNothing() {
    open(m_several);
    run();
    QLineEdit* const text = sourceOf("a");
    empty(text);
    auto* number = editor("n")->findChild<widgets::NumberField*>();
    empty(number);
    QVERIFY(text->isVisible() && text->isEnabled() && number->isVisible());
    QCOMPARE(editor("n")->findChild<QComboBox*>()->currentText(), QString("Number"));
    for (const char* name : {"a", "n"}) {
        QVERIFY2(given(name).spec.source.isEmpty() && !given(name).value, name);
        QVERIFY2(!stateOf(name).contains("Given"), qPrintable(stateOf(name)));
    }
    key(Qt::Key_F5);
    QCOMPARE(context().runs().state(), context::RunState::Failed);
    QCOMPARE(context().messages().all().back().text, QString("no value for input 'a'"));
    for (const char* name : {"a", "n"})
        QVERIFY2(stateOf(name).contains("no value for input"), qPrintable(stateOf(name)));
    type(text, "#rand(0,1,2,2)");
    type(number, "7");
    run();
    QCOMPARE(given("n").value->tensor().toInt64(0), std::int64_t{7});
    // What is chosen in the list is not what was emptied.
    empty(number);
    choose("n", "No value");
    QVERIFY(!number->isVisible());
}

void TestGivingInputs::aRefusedInputIsScrolledIntoView() {
    m_window->resize(800, 600);
    open(m_several);
    for (const char* panel : {"modules", "watches"}) m_window->docks().show(QLatin1String(panel));  // a low panel
    auto* const area = qobject_cast<QScrollArea*>(editor("a")->parentWidget()->parentWidget()->parentWidget());
    QVERIFY(area);
    area->verticalScrollBar()->setValue(0);
    QVERIFY(editor("ids")->visibleRegion().isEmpty());
    context().inputs().setSpec("ids", {});
    key(Qt::Key_F5);
    QTRY_VERIFY(!editor("ids")->visibleRegion().isEmpty());
    // An editor that is higher than the panel: its text is seen, also when it was refused before for something else.
    for (const QString& source : {path("no such.png"), file("README.md")}) {
        area->verticalScrollBar()->setValue(0);
        context().inputs().setSpec("ids", {source, {}});
        settle();
        QVERIFY(editor("ids")->height() > area->viewport()->height());
        const auto labels = editor("ids")->findChildren<QLabel*>();
        const auto text =
            std::ranges::find_if(labels, [](const QLabel* label) { return label->isVisible() && label->wordWrap(); });
        QVERIFY(text != labels.end());
        const auto isSeen = [text = *text, area] {
            const int height = std::min(text->height(), area->viewport()->height());
            return text->visibleRegion().boundingRect() == QRect(0, 0, text->width(), height);
        };
        QTRY_VERIFY(isSeen());
        QTest::qWait(50);  // it stays there
        QVERIFY(isSeen());
    }
}

void TestGivingInputs::liveTakesNumbersAsTheyAreTyped() {
    open(m_several);
    run();
    context().runs().setLive(true);
    settle();
    auto* const number = editor("n")->findChild<widgets::NumberField*>();
    number->setFocus();
    QTest::keyClick(number, Qt::Key_A, Qt::ControlModifier);
    QTest::keyClicks(number, QStringLiteral("-"));
    QCOMPARE(given("n").spec.source, QString("0"));
    QTest::keyClicks(number, QStringLiteral("12"));
    settle();
    QCOMPARE(given("n").spec.source, QString("-12"));
    QCOMPARE(context().runs().recording()->outputs.at(2).tensor().toInt64(0), std::int64_t{-12});
    context().runs().setLive(false);
}

void TestGivingInputs::oneSymbolHasOneSize() {
    open(m_several);
    type(sourceOf("a"), "#rand(0,1,2,2)");
    QVERIFY2(!stateOf("a").contains("expects"), qPrintable(stateOf("a")));
    type(sourceOf("b"), "#rand(0,1,3,2)");
    QVERIFY2(stateOf("b").contains("dimension 0: N is 2 in input 'a', 3 given"), qPrintable(stateOf("b")));
    key(Qt::Key_F5);
    QCOMPARE(context().runs().state(), context::RunState::Failed);
    // What was wrong of b is mended at a.
    type(sourceOf("a"), "#rand(0,1,3,2)");
    QVERIFY2(!stateOf("b").contains("expects"), qPrintable(stateOf("b")));
    run();
}

void TestGivingInputs::anInputThatWasSetLaterIsNotFilled() {
    open(m_several);
    const Tensor row = Tensor::of<float>({1, 2}, {3, 4});
    const QString file = write("late.npz", {{"in.a", row}, {"in.b", row}});
    context().inputs().setSpec("a", {file, {}});
    context().inputs().setSpec("b", {QStringLiteral("[[9,9]]"), {}});
    settle();
    QCOMPARE(given("a").value->tensor().toDouble(0), 3.0);
    QCOMPARE(given("b").value->tensor().toDouble(0), 9.0);
}

void TestGivingInputs::whatNobodyChoseFollowsTheData() {
    open(m_several);
    for (const int batch : {4, 2}) {
        type(sourceOf("a"), qPrintable(QStringLiteral("#rand(0,1,%1,2)").arg(batch)));
        QCOMPARE(given("b").spec.source, QStringLiteral("#rand(0,1,%1,2)").arg(batch));
        run();
        QCOMPARE(context().runs().recording()->outputs.front().tensor().dim(0), std::int64_t{batch});
    }
}

QTEST_MAIN(TestGivingInputs)

}  // namespace tst_giving_inputs

#include "tst_giving_inputs.moc"
