// The help pages on gradients and precision, on a small model: their commands run and print what they show.

#include <QTemporaryDir>
#include <QtTest>

#include "core/io/npz/npz.h"
#include "tests/support/help_shell.h"
#include "tests/support/onnx_file.h"

namespace tst_help_gradients {

using namespace sonde;
using namespace sonde::test;

class TestHelpGradients : public QObject {
    Q_OBJECT

  private Q_SLOTS:
    void everyCommandPrintsWhatThePagesShow_data();
    void everyCommandPrintsWhatThePagesShow();
};

void TestHelpGradients::everyCommandPrintsWhatThePagesShow_data() {
    QTest::addColumn<QString>("page");
    QTest::addColumn<int>("count");
    QTest::newRow("gradients") << QStringLiteral("gradients.md") << 2;
    QTest::newRow("precision") << QStringLiteral("precision.md") << 4;
}

/// p = 2·x, y = p·x: of x = 3 y is 18, and its derivative 4·x is 12.
void TestHelpGradients::everyCommandPrintsWhatThePagesShow() {
    QFETCH(QString, page);
    QFETCH(int, count);
    const QTemporaryDir folder;
    // x to steps of 0.5, in the quantised model.
    for (const bool isQuantised : {false, true}) {
        const float two = 2, step = 0.5F;
        const std::int8_t zero = 0;
        onnxfile::Graph graph;
        graph.inputs = {onnxfile::valueInfo("x", 1, {2})};
        graph.outputs = {onnxfile::valueInfo("y", 1, {2})};
        if (isQuantised)
            graph.nodes = {{"QuantizeLinear", {"x", "step", "zero"}, {"q"}},
                           {"DequantizeLinear", {"q", "step", "zero"}, {"d"}},
                           {"Mul", {"d", "two"}, {"p"}},
                           {"Mul", {"p", "d"}, {"y"}}};
        else graph.nodes = {{"Mul", {"x", "two"}, {"p"}}, {"Mul", {"p", "x"}, {"y"}}};
        graph.initializers = {
            onnxfile::rawTensor("two", 1, {}, std::string(reinterpret_cast<const char*>(&two), sizeof(two))),
            onnxfile::rawTensor("step", 1, {}, std::string(reinterpret_cast<const char*>(&step), sizeof(step))),
            onnxfile::rawTensor("zero", 3, {}, std::string(reinterpret_cast<const char*>(&zero), sizeof(zero)))};
        QVERIFY(onnxfile::write(folder.filePath(isQuantised ? "quantised.onnx" : "model.onnx"),
                                onnxfile::model(graph, {}, {onnxfile::opset("", 17)})));
    }
    const std::vector<io::NamedTensor> given{{"in.x", tensor::Tensor::of<float>({2}, {1.125F, 3})}};
    QVERIFY(io::writeNpz(folder.filePath("given.npz").toStdString(), given));
    int done = 0;
    for (const HelpCommand& command : readHelpPage(page).commands) {
        if (!command.line.contains(u".onnx")) continue;  // a verb in a sentence
        const QString problem = problemOf(command, folder.path());
        QVERIFY2(problem.isEmpty(), qPrintable(problem));
        ++done;
    }
    QCOMPARE(done, count);
}

QTEST_GUILESS_MAIN(TestHelpGradients)

}  // namespace tst_help_gradients

#include "tst_help_gradients.moc"
