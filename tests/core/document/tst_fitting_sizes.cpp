// First runs of ONNX models whose inputs have open dimensions: with sizes that their operators take. Expected: ONNX's
// formulas for the sizes of outputs.

#include <QTemporaryDir>
#include <QtTest>

#include "core/document/document.h"
#include "core/document/input_infos.h"
#include "core/io/inputs/input_info.h"
#include "core/session/session.h"
#include "tests/support/float_bytes.h"
#include "tests/support/onnx_file.h"

namespace tst_fitting_sizes {

using namespace sonde;
namespace onnx = test::onnxfile;

class TestFittingSizes : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void aKernelNeedsAsManySamples();
    void branchesCountToo();
    void whatFitsStays();
    void whatNeverFitsStays();
    void theVoiceDetectorRuns();

  private:
    static std::string weight(std::int64_t kernel) {
        return onnx::rawTensor("w", 1, {2, 1, kernel},
                               test::floatBytes(std::vector<float>(static_cast<std::size_t>(2 * kernel), 0.5F)));
    }
    std::shared_ptr<const document::Document> opened(const onnx::Graph& graph) {
        const QString path = m_files.filePath(QStringLiteral("m.onnx"));
        if (!onnx::write(path, onnx::model(graph))) return nullptr;
        auto document = document::open(path.toStdString(), {});
        return document ? *document : nullptr;
    }
    static QString firstShape(const document::Document& document) {
        const io::InputInfo info = document::inputInfos(document).front();
        return QString::fromStdString(io::usualShape(info.type, info.usual).text());
    }
    QString runError() {
        session::Session session;
        if (!session.open(m_files.filePath(QStringLiteral("m.onnx")).toStdString()))
            return QStringLiteral("not opened");
        session.inputs().read();
        session.runs().run();
        if (const auto& error = session.runs().last().error) return QString::fromStdString(error->text());
        return session.runs().last().recording ? QString() : QStringLiteral("no run");
    }
    QTemporaryDir m_files;
};

/// A kernel of 100 samples: 128 is the least power of two.
void TestFittingSizes::aKernelNeedsAsManySamples() {
    const auto document = opened({{{"Conv", {"x", "w"}, {"y"}}},
                                  {onnx::valueInfo("x", 1, {1, 1, -1})},
                                  {onnx::valueInfo("y", 1, {1, 2, -1})},
                                  {weight(100)}});
    QVERIFY(document);
    QCOMPARE(firstShape(*document), QStringLiteral("[1,1,128]"));
    QCOMPARE(runError(), QString());
}

/// Whatever the condition is, the run goes on.
void TestFittingSizes::branchesCountToo() {
    onnx::Graph one, other;
    one.nodes = {{"Conv", {"x", "w"}, {"one"}}};
    one.outputs = {onnx::valueInfo("one", 1, {1, 2, -1})};
    other.nodes = {{"Conv", {"x", "v"}, {"other"}}};
    other.outputs = {onnx::valueInfo("other", 1, {1, 2, -1})};
    onnx::Graph graph;
    graph.nodes = {
        {"If",
         {"k"},
         {"y"},
         "",
         "",
         {onnx::graphAttribute("then_branch", one.bytes()), onnx::graphAttribute("else_branch", other.bytes())}}};
    graph.inputs = {onnx::valueInfo("x", 1, {1, 1, -1}), onnx::valueInfo("k", 9, {})};
    graph.outputs = {onnx::valueInfo("y", 1, {1, 2, -1})};
    graph.initializers = {weight(20), onnx::rawTensor("v", 1, {2, 1, 40}, test::floatBytes(std::vector<float>(80, 1)))};
    const auto document = opened(graph);
    QVERIFY(document);
    QCOMPARE(firstShape(*document), QStringLiteral("[1,1,64]"));
    QCOMPARE(runError(), QString());
}

void TestFittingSizes::whatFitsStays() {
    const auto document = opened({{{"Conv", {"x", "w"}, {"y"}}},
                                  {onnx::valueInfo("x", 1, {-1, 1, 16})},
                                  {onnx::valueInfo("y", 1, {-1, 2, 14})},
                                  {weight(3)}});
    QVERIFY(document);
    QCOMPARE(firstShape(*document), QStringLiteral("[1,1,16]"));
}

/// The channels are wrong whatever the length is.
void TestFittingSizes::whatNeverFitsStays() {
    const auto document = opened({{{"Conv", {"x", "w"}, {"y"}}},
                                  {onnx::valueInfo("x", 1, {1, 3, -1})},
                                  {onnx::valueInfo("y", 1, {1, 2, -1})},
                                  {weight(1)}});
    QVERIFY(document);
    QCOMPARE(firstShape(*document), QStringLiteral("[1,3,1]"));
}

/// Its windows are of 128 and 256 samples, in two branches.
void TestFittingSizes::theVoiceDetectorRuns() {
    session::Session session;
    QVERIFY(session.open(SONDE_SOURCE_DIR "/resources/samples/voice/silero_vad_v5.onnx"));
    session.inputs().read();
    session.runs().run();
    const auto& error = session.runs().last().error;
    QVERIFY2(!error, error ? error->text().c_str() : "");
    QVERIFY(session.runs().last().recording);
}

QTEST_GUILESS_MAIN(TestFittingSizes)

}  // namespace tst_fitting_sizes

#include "tst_fitting_sizes.moc"
