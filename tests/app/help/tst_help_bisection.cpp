// The help page on two models that part: its commands run and print what it shows.

#include <QTemporaryDir>
#include <QtTest>

#include "core/io/npz/npz.h"
#include "tests/support/help_shell.h"
#include "tests/support/onnx_file.h"

namespace tst_help_bisection {

using namespace sonde;
using namespace sonde::test;

class TestHelpBisection : public QObject {
    Q_OBJECT

  private Q_SLOTS:
    void everyCommandPrintsWhatThePageShows();
};

/// h = −x, y = LeakyRelu(h) with 0.75 and with 1: of h = −1 y is −0.75 and −1.
void TestHelpBisection::everyCommandPrintsWhatThePageShows() {
    const QTemporaryDir folder;
    for (const auto& [name, alpha] : {std::pair{"model.onnx", 0.75F}, {"other.onnx", 1.0F}}) {
        onnxfile::Graph graph;
        graph.inputs = {onnxfile::valueInfo("x", 1, {2})};
        graph.outputs = {onnxfile::valueInfo("y", 1, {2})};
        graph.nodes = {{"Neg", {"x"}, {"h"}},
                       {"LeakyRelu", {"h"}, {"y"}, "", "", {onnxfile::floatAttribute("alpha", alpha)}}};
        QVERIFY(onnxfile::write(folder.filePath(QLatin1String(name)),
                                onnxfile::model(graph, {}, {onnxfile::opset("", 17)})));
    }
    const std::vector<io::NamedTensor> given{{"in.x", tensor::Tensor::of<float>({2}, {1, -2})}};
    QVERIFY(io::writeNpz(folder.filePath("given.npz").toStdString(), given));
    // As model.onnx has them.
    const std::vector<io::NamedTensor> reference{{"in.x", tensor::Tensor::of<float>({2}, {1, -2})},
                                                 {"node.h", tensor::Tensor::of<float>({2}, {-1, 2})},
                                                 {"out.y", tensor::Tensor::of<float>({2}, {-0.75F, 2})}};
    QVERIFY(io::writeNpz(folder.filePath("reference.npz").toStdString(), reference));
    int count = 0;
    for (const HelpCommand& command : readHelpPage(QStringLiteral("bisection.md")).commands) {
        // A verb in a sentence; what .ci/ort has.
        if (!command.line.contains(u".onnx") || command.line.contains(u"libonnxruntime")) continue;
        const QString problem = problemOf(command, folder.path());
        QVERIFY2(problem.isEmpty(), qPrintable(problem));
        ++count;
    }
    QCOMPARE(count, 4);
}

QTEST_GUILESS_MAIN(TestHelpBisection)

}  // namespace tst_help_bisection

#include "tst_help_bisection.moc"
