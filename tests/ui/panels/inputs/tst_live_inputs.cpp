// Inputs that are changed while the model runs by itself: drawn, stepped through folders, dragged, with noise.

#include <QComboBox>
#include <QFileDialog>
#include <QImage>
#include <QLineEdit>
#include <QSlider>
#include <QToolButton>

#include "core/io/inputs/drawing.h"
#include "core/io/npz/npy.h"
#include "tests/support/onnx_file.h"
#include "tests/support/window_fixture.h"
#include "ui/widgets/drawing_pad.h"
#include "ui/widgets/labels.h"
#include "ui/widgets/number_field.h"

namespace tst_live_inputs {

using namespace sonde;
using context::ModelInput;
using tensor::Tensor;

class TestLiveInputs : public test::WindowFixture {
    Q_OBJECT
  private Q_SLOTS:
    void initTestCase();
    void init() {
        QSettings().clear();
        openWindow();
        open(m_model);
    }
    void cleanup() {
        context().runs().setLive(false);
        closeWindow();
    }
    void aLineIsDrawnAndTheModelRuns();
    void thePadIsUsedWithKeys();
    void undoInvertAndClearAreSteps();
    void theSavedPictureGivesTheSameNumbers();
    void drawingsAreRemembered();
    void onlyImagesAreDrawn();
    void aFolderIsSteppedWithKeys();
    void aRecordingIsSeen();
    void slidersChangeNumbers();
    void theRangeOfSlidersIsTyped();
    void noiseIsDialled();
    void whileOneIsDraggedRunsComeToTheirEnd();
    void oldValuesAreStaleWhileARunGoesOn();
    void runsHaveTheEdits();
    void fiftyWatchedValuesFollowOneChange();

  private:
    QString path(const QString& name) const { return m_folder.filePath(name); }
    QFrame* editor(const char* input) {
        m_window->docks().show(QStringLiteral("inputs"));
        QCoreApplication::processEvents();
        return m_window->findChild<QFrame*>(QStringLiteral("input.") + QLatin1String(input));
    }
    const ModelInput& given(const char* input) { return *context().inputs().find(QLatin1String(input)); }
    void choose(const char* input, const char* mode) {
        auto* box = editor(input)->findChild<QComboBox*>();
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
    QWidget* drawingWindow() { return m_window->findChild<QWidget*>(QStringLiteral("drawing.image")); }
    widgets::DrawingPad& pad() { return *drawingWindow()->findChild<widgets::DrawingPad*>(); }
    QPoint onPaper(double x, double y) {
        const QRectF paper = pad().paperRect();
        return QPointF(paper.x() + x * paper.width(), paper.y() + y * paper.height()).toPoint();
    }
    void drawLine(QPoint from, QPoint to) {
        QTest::mousePress(&pad(), Qt::LeftButton, {}, from);
        for (int i = 1; i <= 8; ++i) QTest::mouseMove(&pad(), from + (to - from) * i / 8);
        QTest::mouseRelease(&pad(), Qt::LeftButton, {}, to);
        settle();
    }
    /// Elements of an output of the last run.
    Tensor output(std::size_t index) { return context().runs().recording()->outputs.at(index).tensor(); }
    double sum() { return output(0).toDouble(0); }
    void press(const char* action) {
        m_window->actions().press(QLatin1String(action));
        settle();
    }

    QTemporaryDir m_folder;
    /// sum = the sum of image [1,1,28,28]; y = 2 x of x [3]; n = -k of the number k; and a chain of 50 from x.
    QString m_model;
};

void TestLiveInputs::initTestCase() {
    prepare();
    using namespace test::onnxfile;
    constexpr int kFloat = 1, kInt64 = 7;
    Graph graph;
    Node sum{"ReduceSum", {"image"}, {"sum"}};
    graph.nodes = {sum, Node{"Add", {"x", "x"}, {"y"}}, Node{"Neg", {"k"}, {"n"}}};
    std::string last = "x";
    for (int i = 0; i < 50; ++i) {
        const std::string next = "c" + std::to_string(i);
        graph.nodes.push_back(Node{"Neg", {last}, {next}});
        last = next;
    }
    graph.inputs = {valueInfo("image", kFloat, {1, 1, 28, 28}), valueInfo("x", kFloat, {3}),
                    valueInfo("k", kInt64, {})};
    graph.outputs = {valueInfo("sum", kFloat, {1, 1, 1, 1}), valueInfo("y", kFloat, {3}), valueInfo("n", kInt64, {}),
                     valueInfo(last, kFloat, {3})};
    m_model = path("model.onnx");
    QVERIFY(test::onnxfile::write(m_model, test::onnxfile::model(graph)));
    QDir(m_folder.path()).mkdir(QStringLiteral("pictures"));
    for (const int level : {1, 2, 10}) {
        QImage image(28, 28, QImage::Format_Grayscale8);
        image.fill(level);
        QVERIFY(image.save(path(QStringLiteral("pictures/%1.png").arg(level))));
    }
}

void TestLiveInputs::aLineIsDrawnAndTheModelRuns() {
    key(Qt::Key_L, Qt::ControlModifier);
    QVERIFY(context().runs().isLive());
    press("inputs.draw");
    QVERIFY(drawingWindow() && drawingWindow()->isVisible());
    QVERIFY(pad().hasFocus());
    auto* const preset = editor("image")->findChildren<QComboBox*>().at(1);
    preset->setCurrentIndex(preset->findData(QStringLiteral("unit")));
    Q_EMIT preset->activated(preset->currentIndex());
    settle();
    QTRY_COMPARE(sum(), 0.0);
    pad().setPenSize(0.1);
    drawLine(onPaper(0.2, 0.5), onPaper(0.7, 0.5));
    // Half of the side long, a tenth thick, with round ends.
    const double expected = (0.5 * 0.1 + 3.14159 * 0.01 / 4) * 28 * 28;
    QTRY_VERIFY2(std::abs(sum() - expected) < 0.05 * expected, qPrintable(QString::number(sum())));
    QCOMPARE(io::parseDrawing(given("image").spec.source.toStdString())->strokes.size(), std::size_t{1});
    const double before = sum();
    QTest::mouseClick(&pad(), Qt::RightButton, {}, onPaper(0.45, 0.5));  // erases
    QTRY_VERIFY(sum() < before - 1);
}

void TestLiveInputs::thePadIsUsedWithKeys() {
    choose("image", "Drawing");
    QVERIFY(pad().hasFocus());
    QTest::keyClick(&pad(), Qt::Key_Space);
    QVERIFY(pad().isPenDown());
    for (int i = 0; i < 5; ++i) QTest::keyClick(&pad(), Qt::Key_Right);
    QTest::keyClick(&pad(), Qt::Key_Down, Qt::ShiftModifier);
    QTest::keyClick(&pad(), Qt::Key_Space);
    QVERIFY(!pad().isPenDown());
    QCOMPARE(pad().drawing().lines.size(), std::size_t{1});
    const QPolygonF& points = pad().drawing().lines.front().points;
    QVERIFY(QLineF(points.front(), points.back()).length() > 0.09);
    const double size = pad().penSize();
    QTest::keyClick(&pad(), Qt::Key_Plus);
    QVERIFY(pad().penSize() > size);
    QTest::keyClick(&pad(), Qt::Key_E);
    QVERIFY(pad().isErasing());
    QVERIFY(drawingWindow()->findChild<QToolButton*>(QStringLiteral("eraser"))->isChecked());
    QTest::keyClick(&pad(), Qt::Key_Z, Qt::ControlModifier);
    QVERIFY(pad().drawing().lines.empty());
    QTest::keyClick(&pad(), Qt::Key_Y, Qt::ControlModifier);
    QCOMPARE(pad().drawing().lines.size(), std::size_t{1});
    QTest::keyClick(&pad(), Qt::Key_I);
    QVERIFY(!pad().drawing().isWhiteOnBlack);
    QTest::keyClick(&pad(), Qt::Key_Delete);
    QVERIFY(pad().drawing().lines.empty());
    settle();
    QCOMPARE(given("image").spec.source, QString("#draw(black)"));
}

void TestLiveInputs::undoInvertAndClearAreSteps() {
    choose("image", "Drawing");
    drawLine(onPaper(0.2, 0.2), onPaper(0.8, 0.8));
    drawLine(onPaper(0.8, 0.2), onPaper(0.2, 0.8));
    const QString both = given("image").spec.source;
    const auto click = [this](const char* name) {
        QTest::mouseClick(drawingWindow()->findChild<QToolButton*>(QLatin1String(name)), Qt::LeftButton);
        settle();
    };
    click("invertDrawing");
    QVERIFY(given("image").spec.source.startsWith(QLatin1String("#draw(black|")));
    click("clearDrawing");
    QCOMPARE(given("image").spec.source, QString("#draw(black)"));
    click("undoDrawing");
    click("undoDrawing");
    QCOMPARE(given("image").spec.source, both);
    click("undoDrawing");
    QCOMPARE(pad().drawing().lines.size(), std::size_t{1});
    click("redoDrawing");
    QCOMPARE(given("image").spec.source, both);
    // Given by somebody else: the pad shows it.
    context().inputs().setSpec(QStringLiteral("image"), {QStringLiteral("#draw(black|50,100,100)"), {}});
    settle();
    QCOMPARE(pad().drawing().lines.size(), std::size_t{1});
    QVERIFY(!pad().canUndo());
}

void TestLiveInputs::theSavedPictureGivesTheSameNumbers() {
    choose("image", "Drawing");
    drawLine(onPaper(0.3, 0.2), onPaper(0.6, 0.9));
    run();
    const double drawn = sum();
    QTest::mouseClick(drawingWindow()->findChild<QToolButton*>(QStringLiteral("saveDrawing")), Qt::LeftButton);
    auto* const dialog = drawingWindow()->findChild<QFileDialog*>();
    QVERIFY(dialog);
    Q_EMIT dialog->fileSelected(path("drawn.png"));
    dialog->close();
    QVERIFY(QFile::exists(path("drawn.png")));
    QCOMPARE(QImage(path("drawn.png")).size(), QSize(28, 28));
    context().inputs().setSpec(QStringLiteral("image"), {path("drawn.png"), given("image").spec.image});
    settle();
    QVERIFY(!drawingWindow()->isVisible());
    run();
    QCOMPARE(sum(), drawn);
}

void TestLiveInputs::drawingsAreRemembered() {
    choose("image", "Drawing");
    drawLine(onPaper(0.3, 0.2), onPaper(0.6, 0.9));
    const QString drawing = given("image").spec.source;
    closeWindow();
    openWindow();
    open(m_model);
    QCOMPARE(given("image").spec.source, drawing);
    QCOMPARE(editor("image")->findChild<QComboBox*>()->currentText(), QString("Drawing"));
    press("inputs.draw");
    QCOMPARE(pad().drawing().lines.size(), std::size_t{1});
}

void TestLiveInputs::onlyImagesAreDrawn() {
    QVERIFY(editor("image")->findChild<QComboBox*>()->findText(QStringLiteral("Drawing")) >= 0);
    QVERIFY(editor("x")->findChild<QComboBox*>()->findText(QStringLiteral("Drawing")) < 0);
    QVERIFY(editor("k")->findChild<QComboBox*>()->findText(QStringLiteral("Drawing")) < 0);
}

void TestLiveInputs::aFolderIsSteppedWithKeys() {
    context().inputs().setSpec(QStringLiteral("image"), {path("pictures/2.png"), {true, QStringLiteral("bgr")}});
    settle();
    auto* const text = editor("image")->findChild<widgets::ElidedLabel*>(QStringLiteral("fileOfFolder"));
    QVERIFY(text);
    QTRY_VERIFY(text->isVisible());
    QTRY_COMPARE(text->text(), QString::fromUtf8("2.png  ·  2 of 3"));
    run();
    QCOMPARE(sum(), 2.0 * 28 * 28);
    context().runs().setLive(true);
    settle();
    key(Qt::Key_PageDown, Qt::ControlModifier | Qt::ShiftModifier);
    QTRY_COMPARE(sum(), 10.0 * 28 * 28);  // 10.png is behind 2.png
    QVERIFY(!editor("image")->findChild<QToolButton*>(QStringLiteral("nextFile"))->isEnabled());
    key(Qt::Key_PageDown, Qt::ControlModifier | Qt::ShiftModifier);  // there is no further one
    QCOMPARE(given("image").spec.source, path("pictures/10.png"));
    key(Qt::Key_PageUp, Qt::ControlModifier | Qt::ShiftModifier);
    QTRY_COMPARE(sum(), 2.0 * 28 * 28);
    QTest::mouseClick(editor("image")->findChild<QToolButton*>(QStringLiteral("previousFile")), Qt::LeftButton);
    QTRY_COMPARE(sum(), 1.0 * 28 * 28);
    // A folder stands for its first file.
    auto* field = editor("image")->findChildren<QLineEdit*>(QString(), Qt::FindDirectChildrenOnly).front();
    context().inputs().setSpec(QStringLiteral("image"), {path("pictures/10.png"), {true, QStringLiteral("bgr")}});
    settle();
    type(field, path("pictures").toLatin1().constData());
    QTRY_COMPARE(given("image").spec.source, path("pictures/1.png"));
}

/// 16-bit samples of one channel: 0.5, -0.5, 0.25 (Microsoft/IBM Multimedia Programming Interface 1.0).
void TestLiveInputs::aRecordingIsSeen() {
    QFile file(path("short.wav"));
    QVERIFY(file.open(QIODevice::WriteOnly));
    file.write(
        QByteArray::fromHex("52494646"
                            "2a000000"
                            "57415645"
                            "666d7420"
                            "10000000"
                            "0100"
                            "0100"
                            "401f0000"
                            "803e0000"
                            "0200"
                            "1000"
                            "64617461"
                            "06000000"
                            "0040"
                            "00c0"
                            "0020"));
    file.close();
    auto* const sound = editor("x")->findChild<QWidget*>(QStringLiteral("sound"));
    QVERIFY(!sound->isVisible());
    context().inputs().setSpec(QStringLiteral("x"), {path("short.wav"), {}});
    settle();
    QTRY_VERIFY(sound->isVisible());
    QCOMPARE(sound->findChild<widgets::ElidedLabel*>(QStringLiteral("soundText"))->text(),
             QString::fromUtf8("0.00 s at 8,000 Hz · 3 samples"));
    choose("x", "Zeros");
    QVERIFY(!sound->isVisible());
}

void TestLiveInputs::slidersChangeNumbers() {
    context().inputs().setSpec(QStringLiteral("x"), {QStringLiteral("[0.5,-0.25,3]"), {}});
    settle();
    const auto sliders = editor("x")->findChildren<QSlider*>(QRegularExpression(QStringLiteral("^slider\\d$")));
    QCOMPARE(sliders.size(), 3);
    context().runs().setLive(true);
    settle();
    sliders[2]->setFocus();
    QTest::keyClick(sliders[2], Qt::Key_End);
    settle();
    QCOMPARE(given("x").spec.source, QString("[0.5,-0.25,5]"));
    QTRY_COMPARE(output(1).toDouble(2), 10.0);
    QTest::keyClick(sliders[0], Qt::Key_Home);
    settle();
    QCOMPARE(given("x").spec.source, QString("[-0.5,-0.25,5]"));
    // One number.
    auto* const one = editor("k")->findChild<QSlider*>(QStringLiteral("slider0"));
    QVERIFY(one && one->isVisible());
    QTest::keyClick(one, Qt::Key_End);
    settle();
    QCOMPARE(given("k").spec.source, QString("10"));
    QTRY_COMPARE(output(2).toInt64(0), std::int64_t{-10});
    choose("x", "Random");
    QVERIFY(!editor("x")->findChild<QWidget*>(QStringLiteral("sliders"))->isVisible());
}

void TestLiveInputs::theRangeOfSlidersIsTyped() {
    context().inputs().setSpec(QStringLiteral("k"), {QStringLiteral("7"), {}});
    settle();
    auto* const part = editor("k")->findChild<QWidget*>(QStringLiteral("sliders"));
    const auto fields = part->findChildren<widgets::NumberField*>();
    QCOMPARE(fields.size(), 2);
    type(fields[1], "500");
    QCOMPARE(given("k").spec.source, QString("7"));
    auto* const slider = part->findChild<QSlider*>();
    QTest::keyClick(slider, Qt::Key_End);
    settle();
    QCOMPARE(given("k").spec.source, QString("500"));
    context().inputs().setSpec(QStringLiteral("k"), {QStringLiteral("1700"), {}});
    settle();
    QCOMPARE(fields[1]->number(), QString("2000"));
}

void TestLiveInputs::noiseIsDialled() {
    context().inputs().setSpec(QStringLiteral("x"), {QStringLiteral("[1,2,3]"), {}});
    settle();
    context().runs().setLive(true);
    settle();
    auto* const noise = editor("x")->findChild<QWidget*>(QStringLiteral("noise"));
    QVERIFY(noise->isVisible());
    QTest::keyClick(noise->findChild<QSlider*>(), Qt::Key_End);
    settle();
    QCOMPARE(given("x").spec.source, QString("[1,2,3]+noise(1)"));
    QTRY_VERIFY(output(1).toDouble(0) != 2 && std::abs(output(1).toDouble(0) - 2) < 2);
    type(noise->findChild<QWidget*>(QStringLiteral("noiseSeed")), "7");
    QCOMPARE(given("x").spec.source, QString("[1,2,3]+noise(1,7)"));
    type(noise->findChild<QWidget*>(QStringLiteral("noiseAmplitude")), "0.25");
    QCOMPARE(given("x").spec.source, QString("[1,2,3]+noise(0.25,7)"));
    // It stays while the numbers under it change.
    QTest::keyClick(editor("x")->findChild<QSlider*>(QStringLiteral("slider0")), Qt::Key_Home);
    settle();
    QCOMPARE(given("x").spec.source, QString("[0,2,3]+noise(0.25,7)"));
    QTest::keyClick(noise->findChild<QSlider*>(), Qt::Key_Home);
    settle();
    QCOMPARE(given("x").spec.source, QString("[0,2,3]"));
    QVERIFY(!editor("k")->findChild<QWidget*>(QStringLiteral("noise"))->isVisible());
}

void TestLiveInputs::whileOneIsDraggedRunsComeToTheirEnd() {
    context().inputs().setSpec(QStringLiteral("x"), {QStringLiteral("[0,0,0]"), {}});
    settle();
    context().runs().setLive(true);
    settle();
    auto* const slider = editor("x")->findChild<QSlider*>(QStringLiteral("slider1"));
    int cancelled = 0, finished = 0;
    connect(&context().runs(), &context::Runs::runFinished, this,
            [&] { ++(context().runs().state() == context::RunState::Finished ? finished : cancelled); });
    int begun = 0;
    connect(&context().runs(), &context::Runs::runStarted, this, [&] { ++begun; });
    slider->setSliderDown(true);
    for (int i = 1; i <= 100; ++i) slider->setValue(10 * i);  // faster than any run
    QVERIFY(begun < 100);
    slider->setSliderDown(false);
    settle();
    QCOMPARE(given("x").spec.source, QString("[0,1,0]"));
    QTRY_COMPARE(output(1).toDouble(1), 2.0);
    QCOMPARE(cancelled, 0);
    QVERIFY(finished >= 1);
}

void TestLiveInputs::oldValuesAreStaleWhileARunGoesOn() {
    context().inputs().setSpec(QStringLiteral("x"), {QStringLiteral("[1,1,1]"), {}});
    run();
    QVERIFY(context().runs().staleReason().isEmpty());
    context().runs().setLive(true);
    settle();
    QString whileRunning;
    connect(&context().runs(), &context::Runs::runStarted, this,
            [&] { whileRunning = context().runs().staleReason(); });
    context().inputs().setSpec(QStringLiteral("x"), {QStringLiteral("[2,2,2]"), {}});
    QVERIFY(context().runs().isRunning());
    QCOMPARE(whileRunning, QString("the inputs were changed"));
    QVERIFY(context().runs().isStale(node("y")));
    settle();
    QVERIFY(context().runs().staleReason().isEmpty());
    // A run on the same inputs leaves nothing stale.
    context().runs().run();
    QVERIFY(whileRunning.isEmpty());
    settle();
}

/// As F5 does: edits that are on count in each run, whether they came before or after.
void TestLiveInputs::runsHaveTheEdits() {
    context().inputs().setSpec(QStringLiteral("x"), {QStringLiteral("[1,1,1]"), {}});
    run();
    context().runs().setLive(true);
    settle();
    const auto edit = context().edits().readLine(QStringLiteral("y[1] = 100"), true);
    QVERIFY(edit);
    context().edits().add(edit->first, edit->second);
    settle();
    context().navigation().select(node("y"));
    const auto value = [this](int at) {
        const tensor::Value* const found = context().runs().value(node("y"));
        return found ? found->tensor().toDouble(at) : -1;
    };
    for (const int number : {2, 3, 4}) {
        context().inputs().setSpec(QStringLiteral("x"), {QStringLiteral("[%1,0,0]").arg(number), {}});
        settle();
        QTRY_COMPARE(value(0), 2.0 * number);
        QCOMPARE(value(1), 100.0);
        QCOMPARE(context().edits().shownText(), QStringLiteral("with 1 edit"));
        QVERIFY(context().runs().staleReason().isEmpty());
    }
    // Faster than the runs, which read what is given: the last one counts.
    for (int i = 0; i < 20; ++i) {
        context().inputs().setSpec(QStringLiteral("x"), {QStringLiteral("[%1,0,0]").arg(i), {}});
        if (i % 3 == 0) QCoreApplication::processEvents();
    }
    settle();
    QTRY_COMPARE(value(0), 38.0);
    QCOMPARE(value(1), 100.0);
    // Switched off it is an ordinary run again.
    context().edits().setEnabled(0, false);
    settle();
    context().inputs().setSpec(QStringLiteral("x"), {QStringLiteral("[5,6,7]"), {}});
    settle();
    QTRY_COMPARE(value(1), 12.0);
    QVERIFY(!context().runs().isDebugged());
}

void TestLiveInputs::fiftyWatchedValuesFollowOneChange() {
    std::vector<graph::NodeId> nodes;
    for (int i = 0; i < 50; ++i) {
        nodes.push_back(node(qPrintable(QStringLiteral("c%1").arg(i))));
        context().session().setWatched(nodes.back(), true);
    }
    context().inputs().setSpec(QStringLiteral("x"), {QStringLiteral("[1,2,3]"), {}});
    run();
    context().runs().setLive(true);
    settle();
    int runs = 0;
    connect(&context().runs(), &context::Runs::runFinished, this, [&] { ++runs; });
    context().inputs().setSpec(QStringLiteral("x"), {QStringLiteral("[4,5,6]"), {}});
    settle();
    QCOMPARE(runs, 1);
    for (std::size_t i = 0; i < nodes.size(); ++i) {
        const tensor::Value* const value = context().runs().value(nodes[i]);
        QVERIFY(value);
        QCOMPARE(value->tensor().toDouble(0), i % 2 ? 4.0 : -4.0);
        QVERIFY(!context().runs().isStale(nodes[i]));
    }
}

QTEST_MAIN(TestLiveInputs)

}  // namespace tst_live_inputs

#include "tst_live_inputs.moc"
