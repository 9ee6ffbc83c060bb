// Saliency in the real window, by keys, clicks and scripts, on tiny networks that the test writes: gradients are worked
// by hand.

#include <QTemporaryDir>
#include <QToolButton>
#include <QtTest>

#include "core/io/npz/npy.h"
#include "tests/support/float_bytes.h"
#include "tests/support/onnx_file.h"
#include "tests/support/window_fixture.h"
#include "tests/support/window_network.h"
#include "ui/context/gradients.h"
#include "ui/panels/tensor_viewer/gradient_bar.h"
#include "ui/panels/tensor_viewer/tensor_viewer.h"
#include "ui/panels/tensor_viewer/tensor_viewer_panel.h"
#include "ui/widgets/heat_map_view.h"
#include "ui/window/script.h"

namespace tst_gradient_window {

using namespace sonde;
using Numbers = std::vector<double>;
namespace onnx = test::onnxfile;

class TestGradientWindow : public test::WindowFixture {
    Q_OBJECT

  private Q_SLOTS:
    void initTestCase() { prepare(); }
    void init() {
        QSettings().clear();
        openWindow({1400, 900});
    }
    void cleanup() { closeWindow(); }

    void aKeyTintsTheInput();
    void nodesBetweenHaveTheirs();
    void theGradientIsSeenInPlaceOfTheValue();
    void anotherRunGivesAnotherOne();
    void anOperatorWithoutARuleIsNamed();
    void withoutARunItSaysSo();
    void scriptsAskToo();
    void askingWhyEndsIt();

  private:
    void openModel(const std::string& bytes, const tensor::Tensor& x) {
        const QString model = m_folder.filePath(QStringLiteral("model%1.onnx").arg(++m_models));
        QVERIFY(onnx::write(model, bytes));
        open(model);
        give(x);
    }
    void give(const tensor::Tensor& x) {
        const QString file = m_folder.filePath(QStringLiteral("x%1.npy").arg(++m_models));
        QVERIFY(io::writeNpyFile(file.toStdString(), x));
        context().inputs().setSpec(QStringLiteral("x"), {file, {}});
        settle();
    }
    /// y = Σ k · relu of the k-th of four windows of 3x3, two apart: x[2, 2] is in all of them.
    void openWindows(float step = 1) {
        std::vector<float> values(36);
        for (std::size_t i = 0; i < values.size(); ++i) values[i] = step * static_cast<float>(i);
        openModel(test::windowNetwork(), tensor::Tensor::of<float>({1, 1, 6, 6}, values));
    }
    graph::NodeId named(const char* name) { return context().model().graph().findNode(name); }
    graph::NodeId selected() { return context().navigation().selection().node; }
    void select(const char* name) {
        context().navigation().navigateTo(named(name));
        settle();
    }
    void ask() { key(Qt::Key_G, Qt::AltModifier | Qt::ShiftModifier); }
    void showGradient() { key(Qt::Key_J, Qt::AltModifier | Qt::ShiftModifier); }
    panels::TensorViewerPanel* panel() {
        return static_cast<panels::TensorViewerPanel*>(m_window->docks().panel(QStringLiteral("tensor_viewer")));
    }
    panels::TensorViewer* viewer() { return panel()->viewer(); }
    QString text() { return panel()->gradientBar()->text(); }
    Numbers shown() {
        Numbers numbers;
        const tensor::Tensor& tensor = viewer()->tensor();
        for (std::int64_t i = 0; tensor.defined() && i < tensor.numel(); ++i) numbers.push_back(tensor.toDouble(i));
        return numbers;
    }
    widgets::HeatMapView* map() {
        viewer()->setCurrentView(QStringLiteral("heat_map"));
        settle();
        return viewer()->findChild<widgets::HeatMapView*>();
    }
    QString play(const QString& lines) {
        window::Script script(*m_window, {}, lines, m_folder.path());
        QSignalSpy finished(&script, &window::Script::finished);
        script.start();
        if (finished.isEmpty() && !finished.wait(60000)) return QStringLiteral("not finished");
        return script.error() ? QString::fromStdString(script.error()->what) : QString();
    }

    QTemporaryDir m_folder;
    int m_models = 0;
};

void TestGradientWindow::aKeyTintsTheInput() {
    openWindows();
    run();
    select("y");
    QVERIFY(!panel()->gradientBar()->isVisible());
    ask();
    // The picture comes by itself.
    QCOMPARE(selected(), named("x"));
    QTRY_COMPARE(text(), QStringLiteral("Saliency of y[0, 0] = 1499: 0 to 10, largest at [0, 0, 2, 2]"));
    auto* const field = map();
    QVERIFY(field && field->overlay() && field->overlay()->part);
    QCOMPARE(field->overlay()->rows, 6);
    QCOMPARE(field->overlay()->part(2, 2), 1.0);
    QVERIFY(std::abs(field->overlay()->part(0, 0) - 0.1) < 1e-6);
    QVERIFY(std::abs(field->overlay()->part(1, 2) - 0.3) < 1e-6);  // in the windows 1 and 2
    QCOMPARE(field->overlay()->part(5, 5), 0.0);
    QVERIFY(viewer()->overlayText().contains(QStringLiteral("magnitude of the gradient")));
    QTest::mouseClick(panel()->gradientBar()->findChild<QToolButton*>(QStringLiteral("closeGradient")), Qt::LeftButton);
    settle();
    QVERIFY(!panel()->gradientBar()->isVisible() && !field->overlay());
}

void TestGradientWindow::nodesBetweenHaveTheirs() {
    openWindows();
    run();
    select("f");
    viewer()->setCurrentView(QStringLiteral("table"));
    settle();
    viewer()->showElement({}, {0, 2});
    ask();
    QTRY_COMPARE(text(), QStringLiteral("Saliency of f[0, 2] = 171.5: 0 to 1, largest at [0, 0, 2, 0]"));
    select("c");
    QTRY_COMPARE(text(), QStringLiteral("Saliency of f[0, 2] = 171.5: 0 to 1, largest at [0, 0, 1, 0]"));
    select("y");
    QTRY_COMPARE(text(), QStringLiteral("f[0, 2] does not depend on this value."));
    QVERIFY(!map()->overlay());
}

void TestGradientWindow::theGradientIsSeenInPlaceOfTheValue() {
    openWindows();
    run();
    select("y");
    ask();
    select("c");
    QTRY_VERIFY(text().contains(QStringLiteral(": 1 to 4")));
    QCOMPARE(shown(), (Numbers{63.5, 81.5, 171.5, 189.5}));
    showGradient();
    QCOMPARE(shown(), (Numbers{1, 2, 3, 4}));
    QVERIFY(viewer()->overlayText().isEmpty());
    select("f");
    QTRY_COMPARE(viewer()->tensor().rank(), std::size_t{2});
    QCOMPARE(shown(), (Numbers{1, 2, 3, 4}));
    QTest::mouseClick(panel()->gradientBar()->showButton(), Qt::LeftButton);
    settle();
    QCOMPARE(shown(), (Numbers{63.5, 81.5, 171.5, 189.5}));
}

void TestGradientWindow::anotherRunGivesAnotherOne() {
    openWindows();
    run();
    select("y");
    ask();
    QTRY_VERIFY(text().contains(QStringLiteral(": 0 to 10")));
    // Of negative numbers relu lets only the first window through, whose sum is 0.5 less 9 · 0.
    give(tensor::Tensor::of<float>({1, 1, 6, 6}, std::vector<float>(36, -1)));
    run();
    QTRY_COMPARE(text(), QStringLiteral("Saliency of y[0, 0] = 0: 0 to 0, largest at [0, 0, 0, 0]"));
}

void TestGradientWindow::anOperatorWithoutARuleIsNamed() {
    const onnx::Graph graph{
        {{"Relu", {"x"}, {"r"}},
         {"MaxRoiPool", {"r", "regions"}, {"d"}, "", "", {onnx::intsAttribute("pooled_shape", {1, 1})}},
         {"Neg", {"d"}, {"y"}}},
        {onnx::valueInfo("x", 1, {1, 1, 2, 2})},
        {onnx::valueInfo("y", 1, {1, 1, 1, 1})},
        {onnx::rawTensor("regions", 1, {1, 5}, test::floatBytes({0, 0, 0, 1, 1}))}};
    openModel(onnx::model(graph), tensor::Tensor::of<float>({1, 1, 2, 2}, {0, 1, 2, 3}));
    run();
    select("y");
    ask();
    QTRY_VERIFY2(text().contains(QStringLiteral("'d' (MaxRoiPool) cannot be differentiated")), qPrintable(text()));
    // By what is behind it there is one.
    select("d");
    QTRY_COMPARE(text(), QStringLiteral("Saliency of y[0, 0, 0, 0] = -3: -1 to -1, largest at [0, 0, 0, 0]"));
}

void TestGradientWindow::withoutARunItSaysSo() {
    openWindows();
    select("y");
    ask();
    QVERIFY2(text().contains(QStringLiteral("run")), qPrintable(text()));
    run();
    QTRY_VERIFY2(text().contains(QStringLiteral("largest at")), qPrintable(text()));
}

void TestGradientWindow::scriptsAskToo() {
    openWindows();
    QCOMPARE(play(QStringLiteral("run\ngradient f[0, 3]\nwait\nselect c\nwait\ngradient show\nwait\n")), QString());
    QCOMPARE(shown(), (Numbers{0, 0, 0, 1}));
    QCOMPARE(play(QStringLiteral("gradient hide\ngradient off\n")), QString());
    QVERIFY(!panel()->gradientBar()->isVisible());
    QVERIFY(!play(QStringLiteral("gradient nothing[0]\n")).isEmpty());
    // What is selected, in a run that is debugged.
    QCOMPARE(play(QStringLiteral("select y\naction run.restart\nwait\ngradient\nwait\n")), QString());
    QTRY_VERIFY2(text().startsWith(QStringLiteral("Saliency of y[0, 0] = 1499")), qPrintable(text()));
}

void TestGradientWindow::askingWhyEndsIt() {
    openWindows();
    run();
    select("y");
    ask();
    QTRY_VERIFY(text().contains(QStringLiteral(": 0 to 10")));
    select("y");
    key(Qt::Key_Y, Qt::ControlModifier | Qt::ShiftModifier);
    QVERIFY(!panel()->gradientBar()->isVisible());
    select("x");
    QVERIFY(viewer()->overlayText().contains(QStringLiteral("Receptive field")));
}

QTEST_MAIN(TestGradientWindow)

}  // namespace tst_gradient_window

#include "tst_gradient_window.moc"
