// Documents whose data files are missing: the graph knows them, also behind passes, and plans refuse what they need.

#include <QTemporaryDir>
#include <QtTest>

#include "core/document/document.h"
#include "core/exec/plan.h"
#include "core/graph/missing_data.h"
#include "core/graph/source_files.h"
#include "tests/support/onnx_file.h"

namespace tst_missing_data_files {

using namespace sonde;
using namespace sonde::test::onnxfile;

class TestMissingDataFiles : public QObject {
    Q_OBJECT

  private Q_SLOTS:
    void graphKnowsThem();
    void passesKeepThem();
    void plansRefuseWhatTheyNeed();
    void filesOutsideAreRefusedStill();

  private:
    /// h = relu(x), y = h·w with w in `location`.
    base::Result<std::shared_ptr<const document::Document>> opened(const std::string& location,
                                                                   const document::OpenOptions& options = {}) const {
        const Graph graph{.nodes = {{"Relu", {"x"}, {"h"}}, {"MatMul", {"h", "w"}, {"y"}}},
                          .inputs = {valueInfo("x", 1, {1, 4})},
                          .outputs = {valueInfo("y", 1, {1, 3})},
                          .initializers = {externalTensor("w", {4, 3}, {{"location", location}})}};
        const QString path = m_folder.filePath("m.onnx");
        if (!write(path, model(graph))) qFatal("cannot write");
        return document::open(path.toStdString(), options);
    }

    QTemporaryDir m_folder;
};

void TestMissingDataFiles::graphKnowsThem() {
    const auto document = opened("w.bin");
    QVERIFY(document);
    const graph::MissingFiles& missing = graph::missingOf((*document)->graph);
    QCOMPARE(missing.size(), std::size_t{1});
    QCOMPARE(missing[0].location, std::string("w.bin"));
    QCOMPARE(missing[0].tensors, std::vector<std::string>{"w"});
    QCOMPARE(missing[0].bytes, 48);
    QCOMPARE(missing[0].tensorsText(5), std::string("1 tensor: 'w'"));
    const graph::Node& w = (*document)->graph->node((*document)->graph->findNode("w"));
    QVERIFY(!w.constant);
    QCOMPARE(w.type.text(), std::string("float32[4,3]"));
    // The files that are there can be looked at for changes.
    QCOMPARE(graph::filesOf((*document)->graph).size(), std::size_t{1});
    QVERIFY(graph::checkFiles((*document)->graph));
    const auto complete = graph::checkComplete((*document)->graph);
    QVERIFY(!complete);
    QCOMPARE(complete.error().kind, base::ErrorKind::Unreadable);
    QVERIFY(complete.error().what.find("'w.bin' cannot be opened") != std::string::npos);
}

void TestMissingDataFiles::passesKeepThem() {
    document::OpenOptions options;
    options.passes = {"fold-constant"};
    const auto document = opened("w.bin", options);
    QVERIFY(document);
    QVERIFY((*document)->original);
    QCOMPARE(graph::missingOf((*document)->graph).size(), std::size_t{1});
    QCOMPARE(graph::missingOf((*document)->original).size(), std::size_t{1});
}

void TestMissingDataFiles::plansRefuseWhatTheyNeed() {
    const auto document = opened("w.bin");
    QVERIFY(document);
    const auto whole = exec::Plan::make((*document)->graph, {});
    QVERIFY(!whole);
    QVERIFY2(whole.error().text().find("w.bin") != std::string::npos &&
                 whole.error().text().find("tensor 'w'") != std::string::npos,
             whole.error().text().c_str());
    // Another graph with the same nodes knows no file, and lacks the value all the same.
    QVERIFY(!exec::Plan::make(std::make_shared<const graph::InternalGraph>(*(*document)->graph), {}));
    exec::PlanOptions before;
    before.end = {(*document)->graph->findNode("h")};
    QVERIFY(exec::Plan::make((*document)->graph, before));
}

void TestMissingDataFiles::filesOutsideAreRefusedStill() {
    for (const char* location : {"../w.bin", "/tmp/w.bin", ""}) QVERIFY2(!opened(location), location);
}

QTEST_GUILESS_MAIN(TestMissingDataFiles)

}  // namespace tst_missing_data_files

#include "tst_missing_data_files.moc"
