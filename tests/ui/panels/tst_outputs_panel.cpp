// The outputs of runs in the window. The detector gives the same three boxes whatever its input is: they are its bias.

#include <QAbstractItemModelTester>
#include <QAction>
#include <QComboBox>
#include <QDockWidget>
#include <QDoubleSpinBox>
#include <QFile>
#include <QSpinBox>
#include <QTableView>
#include <QToolButton>

#include "tests/support/float_bytes.h"
#include "tests/support/onnx_file.h"
#include "tests/support/window_fixture.h"
#include "ui/context/outputs.h"
#include "ui/panels/outputs/output_view.h"
#include "ui/panels/outputs/outputs_panel.h"
#include "ui/widgets/line_plot.h"
#include "ui/widgets/marked_picture.h"

namespace tst_outputs_panel {

using namespace sonde;
using namespace sonde::test;
using widgets::MarkedPicture;

namespace {

/// x[1,3,32,32] -> y [1,3,6]: left, top, right, bottom, score, class.
std::string detector() {
    const std::vector<float> boxes{4, 8, 12, 24, 0.9F, 1, 16, 0, 32, 8, 0.7F, 0, 1, 1, 2, 2, 0.1F, 2};
    std::string shape;
    for (const std::int64_t size : {1, 3, 6}) shape.append(reinterpret_cast<const char*>(&size), sizeof size);
    const onnxfile::Graph graph{
        {{"GlobalAveragePool", {"x"}, {"p"}},
         {"Flatten", {"p"}, {"f"}},
         {"MatMul", {"f", "w"}, {"m"}},
         {"Add", {"m", "b"}, {"a"}},
         {"Reshape", {"a", "s"}, {"y"}}},
        {onnxfile::valueInfo("x", 1, {1, 3, 32, 32})},
        {onnxfile::valueInfo("y", 1, {1, 3, 6})},
        {onnxfile::rawTensor("w", 1, {3, 18}, floatBytes(std::vector<float>(54, 0))),
         onnxfile::rawTensor("b", 1, {1, 18}, floatBytes(boxes)), onnxfile::rawTensor("s", 7, {3}, shape)}};
    return onnxfile::model(graph);
}

QString sample(const char* name) {
    return QStringLiteral(SONDE_SOURCE_DIR "/resources/samples/") + QLatin1String(name);
}

}  // namespace

class TestOutputsPanel : public WindowFixture {
    Q_OBJECT

  private Q_SLOTS:
    void initTestCase() { prepare(); }
    void init() {
        QSettings().clear();
        openWindow();
    }
    void cleanup() { closeWindow(); }

    /// Nothing to show takes no room: before a run, and once the model has gone.
    void comesAndGoesWithARun() {
        open(QStringLiteral("zoo:mlp_functional"));
        QVERIFY(dock()->isHidden());
        run();
        QTRY_VERIFY(!dock()->isHidden());
        QCOMPARE(panel().outputBox()->count(), 2);
        QVERIFY(panel().outputBox()->isVisible());
        m_window->actions().action(QStringLiteral("file.close"))->trigger();
        QTRY_VERIFY(dock()->isHidden());
    }

    void classesOfRandomWeightsHaveNoNames() {
        open(QStringLiteral("zoo:resnet18_slim"));
        run();
        QCOMPARE(panel().formBox()->currentText(), QString("Auto: Classes"));
        QVERIFY2(panel().notes().startsWith(QLatin1String("random weights")), qPrintable(panel().notes()));
        QCOMPARE(list()->model()->rowCount(), 5);
        QVERIFY(cell(0, 0).startsWith(QLatin1String("class ")));
        QVERIFY(cell(0, 1).endsWith(QLatin1String(" %")));
        QSpinBox* const top = panel().findChild<QSpinBox*>(QStringLiteral("outputTop"));
        top->setFocus();
        QTest::keyClick(top, Qt::Key_Down);
        settle();
        QCOMPARE(list()->model()->rowCount(), 4);
        // The key of the panel leads to the list.
        key(Qt::Key_O, Qt::AltModifier);
        QCOMPARE(QApplication::focusWidget(), list());
        const QAbstractItemModelTester tester(list()->model());
        panel().formBox()->setFocus();
        QTest::keyClick(panel().formBox(), Qt::Key_End);
        settle();
        // The last one suits least.
        QCOMPARE(panel().formBox()->currentText(), QString("Waveform"));
        QVERIFY(panel().view()->plot()->isVisible() && !list()->isVisible());
        QVERIFY(panel().choose(QStringLiteral("table")));
        settle();
        QCOMPARE(list()->model()->rowCount(), 1);
        // What does not fit is chosen all the same, and says so.
        QVERIFY(panel().choose(QStringLiteral("scalar")));
        settle();
        QVERIFY2(panel().formBox()->currentText().endsWith(QLatin1String("(does not fit)")),
                 qPrintable(panel().formBox()->currentText()));
        QVERIFY2(panel().notes().contains(QLatin1String("does not fit")), qPrintable(panel().notes()));
        QVERIFY(!panel().findChild<QSpinBox*>(QStringLiteral("outputTop"))->isVisible());
    }

    /// A file beside the model names its classes; what was upside down is called so.
    void labelsBesideTheModelNameItsClasses() {
        open(sample("ch_ppocr_mobile_v2.0_cls_infer.onnx"));
        QVERIFY(context().session().runs().give("x",
                                                {sample("text-line-upside-down.png").toStdString(), {true, "signed"}}));
        settle();
        run();
        QCOMPARE(cell(0, 0), QString("upside down"));
        QCOMPARE(panel().notes(), QString());
        QVERIFY(panel().findChild<QToolButton*>() != nullptr);
    }

    /// A file that was chosen can be taken away, with its key; then the one beside the model counts again.
    void aChosenFileCanBeTakenAway() {
        open(sample("ch_ppocr_mobile_v2.0_cls_infer.onnx"));
        run();
        QAction* const without = m_window->actions().action(QStringLiteral("outputs.no_names"));
        auto* const button = panel().findChild<QToolButton*>(QStringLiteral("outputNoNames"));
        QVERIFY(button && !button->isVisible());  // nobody has chosen the one beside the model
        context::Outputs& outputs = context::outputsOf(context());
        auto choice = outputs.choiceOf(outputs.all().front().name);
        choice.labels = write("names.txt", "up\ndown\n").toStdString();
        outputs.choose(choice);
        settle();
        QVERIFY2(QStringList({"up", "down"}).contains(cell(0, 0)), qPrintable(cell(0, 0)));
        QVERIFY(button->isVisible());
        without->trigger();
        settle();
        QVERIFY2(!QStringList({"up", "down"}).contains(cell(0, 0)), qPrintable(cell(0, 0)));
        QVERIFY(!button->isVisible() && outputs.choiceOf(outputs.all().front().name).labels.empty());
    }

    void boxesAreDrawnAndChosen() {
        open(write("detector.onnx", detector()));
        run();
        QCOMPARE(panel().formBox()->currentText(), QString("Auto: Boxes"));
        MarkedPicture* const picture = panel().view()->picture();
        QVERIFY(picture->isVisible());
        QCOMPARE(picture->marks().size(), std::size_t{2});  // the third score is below 0.5
        QCOMPARE(picture->marks()[0].place, QRectF(0.125, 0.25, 0.25, 0.5));
        QCOMPARE(picture->marks()[0].text, QString("class 1 0.90"));
        // A click into the second box chooses its row; a row chooses its box.
        const QRectF field = picture->pictureRect();
        click(picture, field.topLeft() + QPointF(0.75 * field.width(), 0.125 * field.height()));
        QCOMPARE(list()->currentIndex().row(), 1);
        list()->selectRow(0);
        QCOMPARE(picture->current(), 0);
        auto* const threshold = panel().findChild<QDoubleSpinBox*>(QStringLiteral("boxThreshold"));
        QVERIFY(threshold->isVisible());
        threshold->setFocus();
        threshold->selectAll();
        QTest::keyClicks(threshold, QStringLiteral("0.05"));
        QTest::keyClick(threshold, Qt::Key_Return);
        settle();
        QCOMPARE(picture->marks().size(), std::size_t{3});
        // Centre and size in place of the corners: 4 - 12 / 2 = -2 of 32 pixels.
        auto* const corners = panel().findChild<QComboBox*>(QStringLiteral("boxCorners"));
        corners->setFocus();
        QTest::keyClick(corners, Qt::Key_End);
        settle();
        QCOMPARE(picture->marks()[0].place.left(), -2 / 32.0);
    }

    /// What is chosen is there again with the model, and is in its session file.
    void choicesAreKept() {
        const QString model = write("kept.onnx", detector());
        open(model);
        run();
        QVERIFY(panel().choose(QStringLiteral("y=boxes:threshold=0.05,xywh")));
        settle();
        m_window->actions().action(QStringLiteral("file.close"))->trigger();
        settle();
        open(model);
        run();
        QCOMPARE(panel().view()->picture()->marks().size(), std::size_t{3});
        const QString session = m_settings.filePath(QStringLiteral("kept.sonde"));
        context().sessionFiles().saveAs(session);
        settle();
        QFile file(session);
        QVERIFY(file.open(QIODevice::ReadOnly));
        QVERIFY(file.readAll().contains("xywh,threshold=0.05"));
        QSettings().clear();
        open(session);
        run();
        QCOMPARE(panel().view()->picture()->marks().size(), std::size_t{3});
        QVERIFY(!panel().choose(QStringLiteral("pie")));
        QVERIFY(!panel().choose(QStringLiteral("z=boxes")));
    }

    void picturesAndWaves() {
        open(QStringLiteral("zoo:autoencoder"));
        run();
        QCOMPARE(panel().formBox()->currentText(), QString("Auto: Image"));
        QVERIFY(panel().view()->picture()->isVisible());
        open(QStringLiteral("zoo:unet_small"));
        run();
        // Three classes of a picture with three channels may be a picture.
        QVERIFY(panel().choose(QStringLiteral("masks")));
        settle();
        QCOMPARE(panel().formBox()->currentText(), QString("Masks"));
        QVERIFY(list()->model()->rowCount() > 0);
        QVERIFY(panel().choose(QStringLiteral("table")));
        settle();
        QVERIFY(!panel().view()->picture()->isVisible());
        open(QStringLiteral("zoo:gpt_mini"));
        run();
        QCOMPARE(panel().formBox()->currentText(), QString("Auto: Text"));
        QVERIFY(!panel().view()->text().isEmpty());
    }

    /// Values of other inputs are called so until the next run.
    void staleOutputsAreNamed() {
        open(write("stale.onnx", detector()));
        run();
        QVERIFY(context().session().runs().give("x", {"#zeros", {}}));
        settle();
        QVERIFY2(panel().notes().startsWith(QLatin1String("Stale")), qPrintable(panel().notes()));
        run();
        QCOMPARE(panel().notes(), QString());
    }

  private:
    panels::OutputsPanel& panel() {
        return static_cast<panels::OutputsPanel&>(*m_window->docks().panel(QStringLiteral("outputs")));
    }
    QDockWidget* dock() { return m_window->docks().dock(QStringLiteral("outputs")); }
    QTableView* list() { return panel().view()->list(); }
    QString cell(int row, int column) { return list()->model()->index(row, column).data().toString(); }
    QString write(const char* name, const std::string& bytes) {
        const QString path = m_settings.filePath(QLatin1String(name));
        QFile file(path);
        if (file.open(QIODevice::WriteOnly)) file.write(bytes.data(), static_cast<qint64>(bytes.size()));
        return path;
    }
};

QTEST_MAIN(TestOutputsPanel)

}  // namespace tst_outputs_panel

#include "tst_outputs_panel.moc"
