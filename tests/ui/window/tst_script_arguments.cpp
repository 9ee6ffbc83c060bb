// Arguments of window scripts that are missing, unknown or out of range: a message with the line and the argument.

#include <QRegularExpression>

#include "tests/support/onnx_file.h"
#include "tests/support/scan_network.h"
#include "tests/support/window_fixture.h"
#include "ui/window/script.h"

namespace tst_script_arguments {

using namespace sonde;
namespace onnx = test::onnxfile;

class TestScriptArguments : public test::WindowFixture {
    Q_OBJECT

  private Q_SLOTS:
    void initTestCase() { prepare(); }
    void init() { QSettings().clear(); }
    void cleanup() { closeWindow(); }
    void eachIsAnErrorOfItsLine_data();
    void eachIsAnErrorOfItsLine();
    void instancesAreThoseOfTheBlock();
    void iterationsAreThoseOfTheLoop();
    void stepsAreThoseOfTheRun();

  private:
    /// Runs the lines to their end; the error, or empty.
    QString play(const QString& text) {
        window::Script script(*m_window, {}, text, m_settings.path());
        QSignalSpy finished(&script, &window::Script::finished);
        script.start();
        if (finished.isEmpty() && !finished.wait(60000)) return QStringLiteral("not finished");
        if (!script.error()) return {};
        return QString::fromStdString(script.error()->what + " (" + script.error()->where + ')')
            .remove(m_settings.path() + QLatin1Char('/'));
    }
};

void TestScriptArguments::eachIsAnErrorOfItsLine_data() {
    QTest::addColumn<QString>("lines");
    QTest::addColumn<QString>("error");
    const auto row = [](const char* lines, const char* error) {
        QTest::newRow(lines) << QString::fromLatin1(lines) << QString::fromLatin1(error);
    };
    row("run now", "run takes no arguments (line 1: now)");
    row("clear all", "clear takes no arguments (line 1: all)");
    row("quit now", "quit takes no arguments (line 1: now)");
    row("open", "open needs MODEL (line 1)");
    row("select", "select needs NODE|QUALNAME (line 1)");
    row("expand", "expand needs QUALNAME|all|depth N (line 1)");
    row("timeline", "timeline needs STEP|time|uniform (line 1)");
    row("input y 1", "the model has no such input (line 1: y)");
    row("input x", "the input needs a value (line 1: x)");
    row("input x nowhere.png", "no such file (line 1: nowhere.png)");
    row("focus up", "the action is not possible now (line 1: focus.upstream)");
    row("focus up 3", "the action is not possible now (line 1: focus.around)");
    row("focus only", "the action is not possible now (line 1: focus.isolate)");
    row("select #5\nfocus up -1", "not a depth (line 2: -1)");
    row("select #5\nfocus up far", "not a depth (line 2: far)");
    row("select #5\nfocus up 99999999999", "not a depth (line 2: 99999999999)");
    row("bookmark", "the action is not possible now (line 1: go.bookmark)");
    row("select layer1.1\ninstance 0", "the selection is not in a repeated block (line 2)");
    row("zoom 1e9", "the zoom factor is out of range (line 1: 1e9)");
    row("zoom 1e-9", "the zoom factor is out of range (line 1: 1e-9)");
    row("zoom nan", "the zoom factor is out of range (line 1: nan)");
    row("zoom inf", "the zoom factor is out of range (line 1: inf)");
    row("size 10x10", "the window cannot be that small (line 1: 10x10)");
    row("trace follow=3", "unknown trace option (line 1: follow=3)");
    row("timeline -1", "no such step or width (line 1: -1)");
    row("iteration 0", "the selected value is not of a loop that ran twice or more (line 1: 0)");
    row("run\nselect fc\nview channels", "the selected value cannot be shown like that (line 3: channels)");
    row("lesson nosuch", "there is no lesson 'nosuch' (line 1)");
    row("lesson recurrent",
        "the lesson needs a recurrent layer (RNN, LSTM or GRU), which the model has not (line 1: recurrent)");
    row("lesson residual", "");
    // What is as it shall be already is no error.
    row("focus all", "");
    row("graph", "");
    row("fold on\nfold on", "");
    row("zoom 8", "");
}

void TestScriptArguments::eachIsAnErrorOfItsLine() {
    QFETCH(QString, lines);
    openWindow();
    open(file("resnet18_slim.onnx"));
    QTEST(play(lines), "error");
}

/// Of the five layers.
void TestScriptArguments::instancesAreThoseOfTheBlock() {
    openWindow();
    open(QStringLiteral("zoo:vit_b_16?layers=5&dim=48&mlp=96&heads=4"));
    QCOMPARE(play("fold on\nselect encoder.layers.encoder_layer_1\ninstance 4"), QString());
    for (const char* number : {"5", "-1", "last"})
        QCOMPARE(play(QStringLiteral("instance ") + QLatin1String(number)),
                 QStringLiteral("no such instance (line 1: %1)").arg(QLatin1String(number)));
}

/// Of the three iterations.
void TestScriptArguments::iterationsAreThoseOfTheLoop() {
    openWindow();
    const QString model = m_settings.filePath(QStringLiteral("scan.onnx"));
    QVERIFY(onnx::write(model, test::scanNetwork(3)));
    open(model);
    QCOMPARE(play("input x [1,2,4]\nwatch sum\nrun\nselect sum\niteration 0\niteration 2"), QString());
    QCOMPARE(play("iteration 3"), QStringLiteral("no such iteration (line 1: 3)"));
    QCOMPARE(play("iteration -5"), QStringLiteral("no such iteration (line 1: -5)"));
    QCOMPARE(play("iteration last"), QStringLiteral("no such iteration (line 1: last)"));
}

/// How many there are is not known before the end.
void TestScriptArguments::stepsAreThoseOfTheRun() {
    openWindow();
    open(file("mlp_functional.onnx"));
    QCOMPARE(play("timeline 1\ntimeline 0"), QString());
    const QString error = play("timeline 99999");
    static const QRegularExpression form("^the run has (\\d+) steps; .*\\(line 1: 99999\\)$");
    const QRegularExpressionMatch match = form.match(error);
    QVERIFY2(match.hasMatch(), qPrintable(error));
    const int count = match.captured(1).toInt();
    QCOMPARE(play(QStringLiteral("timeline %1").arg(count - 1)), QString());
    const QString again = play(QStringLiteral("timeline 0\ntimeline %1").arg(count));
    QVERIFY2(again.startsWith(QStringLiteral("the run has %1 steps; ").arg(count)) &&
                 again.endsWith(QStringLiteral("(line 2: %1)").arg(count)),
             qPrintable(again));
}

QTEST_MAIN(TestScriptArguments)

}  // namespace tst_script_arguments

#include "tst_script_arguments.moc"
