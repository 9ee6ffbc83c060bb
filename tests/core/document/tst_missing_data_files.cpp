// Documents whose data files are missing: the graph knows them, also behind passes, and plans refuse what they need.

#include <QTemporaryDir>
#include <QtTest>

#include "core/analysis/injection.h"
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
    void shortFilesAreListed();
    void attributesAreListed();
    void copiesKnowThem();

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

/// 20 bytes are there, and w takes 48: it is listed as if there were no file, and a whole file is read.
void TestMissingDataFiles::shortFilesAreListed() {
    const auto writeBytes = [this](qsizetype count) {
        QFile data(m_folder.filePath("short.bin"));
        return data.open(QIODevice::WriteOnly) && data.write(QByteArray(count, '\0')) == count;
    };
    QVERIFY(writeBytes(20));
    const auto document = opened("short.bin");
    QVERIFY2(document, document ? "" : document.error().text().c_str());
    const graph::MissingFiles& missing = graph::missingOf((*document)->graph);
    QCOMPARE(missing.size(), std::size_t{1});
    QVERIFY(missing[0].isCutOff);
    QCOMPARE(missing[0].text(), std::string("the data file 'short.bin' is cut off after 20 bytes"));
    QCOMPARE(missing[0].tensors, std::vector<std::string>{"w"});
    const auto plan = exec::Plan::make((*document)->graph, {});
    QVERIFY(!plan);
    QVERIFY2(plan.error().text().find("'short.bin' is cut off after 20 bytes (tensor 'w')") != std::string::npos,
             plan.error().text().c_str());
    QVERIFY(writeBytes(47));
    QCOMPARE(graph::missingOf((*opened("short.bin"))->graph).size(), std::size_t{1});
    QVERIFY(writeBytes(48));
    const auto whole = opened("short.bin");
    QVERIFY(whole && graph::missingOf((*whole)->graph).empty());
    QVERIFY(exec::Plan::make((*whole)->graph, {}));
}

/// h = x + c with c of a Constant, s = ConstantOfShape([2]) filled with an int64: both numbers are in files that are
/// not there. No run can come to either.
void TestMissingDataFiles::attributesAreListed() {
    const auto tensorAttribute = [](const std::string& tensor) {
        std::string data;
        protozero::pbf_writer writer(data);
        writer.add_string(1, "value");
        writer.add_message(5, tensor);
        writer.add_enum(20, 4);
        return data;
    };
    const std::int64_t two = 2;
    const std::string shape(reinterpret_cast<const char*>(&two), sizeof(two));
    const Graph graph{
        .nodes = {{"Constant", {}, {"c"}, "", "", {tensorAttribute(externalTensor("", {4}, {{"location", "c.bin"}}))}},
                  {"Add", {"x", "c"}, {"h"}},
                  {"ConstantOfShape",
                   {"two"},
                   {"s"},
                   "fill",
                   "",
                   {tensorAttribute(externalTensor("", {1}, {{"location", "s.bin"}}))}}},
        .inputs = {valueInfo("x", 1, {1, 4})},
        .outputs = {valueInfo("h", 1, {1, 4}), valueInfo("s", 1, {2})},
        .initializers = {rawTensor("two", 7, {1}, shape)}};
    const QString path = m_folder.filePath("attributes.onnx");
    QVERIFY(write(path, model(graph)));
    const auto document = document::open(path.toStdString(), {});
    QVERIFY2(document, document ? "" : document.error().text().c_str());
    const graph::InternalGraph& opened = *(*document)->graph;
    const graph::MissingFiles& missing = graph::missingOf((*document)->graph);
    QCOMPARE(missing.size(), std::size_t{2});
    QCOMPARE(missing[0].location, std::string("c.bin"));
    QCOMPARE(missing[0].tensors, std::vector<std::string>{"c"});
    QCOMPARE(missing[1].location, std::string("s.bin"));
    QCOMPARE(missing[1].tensors.size(), std::size_t{1});
    QCOMPARE(opened.node(opened.findNode("c")).type.text(), std::string("float32[4]"));
    for (const char* end : {"h", "s"}) {
        exec::PlanOptions options;
        options.end = {opened.findNode(end)};
        const auto plan = exec::Plan::make((*document)->graph, options);
        QVERIFY2(!plan, end);
        QVERIFY2(plan.error().text().find(end[0] == 'h' ? "c.bin" : "s.bin") != std::string::npos,
                 plan.error().text().c_str());
    }
}

/// A graph that runs in place of the model's own.
void TestMissingDataFiles::copiesKnowThem() {
    const auto document = opened("w.bin");
    QVERIFY(document);
    const auto injected = analysis::withInjected((*document)->graph, {});
    QCOMPARE(graph::missingOf(injected).size(), std::size_t{1});
    const auto copy = graph::withKeptOf(std::make_shared<const graph::InternalGraph>(*injected), injected);
    const auto plan = exec::Plan::make(copy, {});
    QVERIFY(!plan);
    QVERIFY2(plan.error().text().find("'w.bin' cannot be opened") != std::string::npos, plan.error().text().c_str());
    QCOMPARE(graph::filesOf(copy).size(), std::size_t{1});
}

QTEST_GUILESS_MAIN(TestMissingDataFiles)

}  // namespace tst_missing_data_files

#include "tst_missing_data_files.moc"
