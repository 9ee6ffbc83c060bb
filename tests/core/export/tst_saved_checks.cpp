// What an ONNX file cannot say is told when it is written: assertions and guards by name, opaque calls as an error; and
// in-place operators keep the dtype of what they write to. Dumps keep assertions and guards.

#include <QTemporaryDir>
#include <QtTest>

#include "core/document/document.h"
#include "core/export/dump.h"
#include "core/export/lowering/onnx_graph.h"
#include "core/nn/functional.h"
#include "core/trace/custom_tracer.h"
#include "core/trace/module_path_tracer.h"
#include "core/trace/robust_tracer.h"
#include "tests/core/trace/traced_text.h"

namespace tst_saved_checks {

using namespace sonde;
using namespace sonde::test;
using nn::Var;
using tensor::DType;
using tensor::Value;
using In = std::span<const Var>;

namespace {

Value input() { return floats({4}, {1, 2, 3, 4}); }

base::Result<exporting::OnnxGraph> written(const std::shared_ptr<const graph::InternalGraph>& graph) {
    document::Document document;
    document.graph = graph;
    const std::vector<Value> inputs{input()};
    return exporting::onnxGraph(document, inputs);
}

/// x[-2:] = x[:2] of a clone: whether the parts meet a run decides. Of four numbers they do not, of three they do.
document::Document endsDocument() {
    const trace::EvaluatorScope evaluator(document::kernelEvaluator());
    const auto net = custom("Net", [](Custom&, In in) {
        const Var c = in[0].method("clone");
        c.withItem(Var::slice(-2, Var()), c[Var::slice(0, 2)]);
        return c;
    });
    document::Document document;
    const auto graph = trace::CustomTracer().trace(net).value();
    document.graph = graph;
    document.inputs.push_back({"x", graph->inputs().front()});
    document.outputs.push_back({"y", graph->outputs().front()});
    return document;
}

/// A dump as it is read again from its file.
io::dump::DumpFile readAgain(const io::dump::DumpFile& dump, const QTemporaryDir& folder, const char* name) {
    const std::string path = folder.filePath(name).toStdString();
    if (const auto info = io::dump::writeDump(path, dump); !info) qFatal("%s", info.error().text().c_str());
    return io::dump::readDump(path).value();
}

std::string errorOf(const io::dump::DumpFile& dump, const Value& given) {
    const exec::Recording recording = runGraph(dump.graph, {given});
    return recording.error ? recording.error->text() : std::string();
}

}  // namespace

class TestSavedChecks : public QObject {
    Q_OBJECT

  private slots:
    void assertionsAreNamed() {
        const trace::EvaluatorScope evaluator(document::kernelEvaluator());
        const auto net = custom("Net", [](Custom& self, In in) {
            const Var y = in[0] * 2;
            trace::callFunction({"_assert_async.msg", "_assert_async", "torch._assert_async", false},
                                {nn::sum(y) > 0, "must be positive"});
            return self.at("child").call({y}, {});
        });
        net->addChild("child", custom("Child", [](Custom&, In in) {
                          trace::callFunction({"_assert_async", "_assert_async", "torch._assert_async", false},
                                              {nn::sum(in[0]) < 100});
                          return in[0] + 1;
                      }));
        trace::ModulePathTracer tracer;
        const auto made = written(tracer.trace(net).value());
        QVERIFY2(made.has_value(), made ? "" : made.error().text().c_str());
        QCOMPARE(made->notes.size(), std::size_t{3});
        QCOMPARE(made->notes[0].what, std::string("assertion is not in the file: must be positive"));
        QCOMPARE(made->notes[0].where, std::string("node '_assert_async', operation 4"));
        QCOMPARE(made->notes[1].what, std::string("assertion is not in the file"));
        QVERIFY2(made->notes[1].where.ends_with("module 'child'"), made->notes[1].where.c_str());
        QCOMPARE(
            made->notes[2].what,
            std::string(
                "2 assertions and guards of the model are not in the file: it returns values where the model raises an error"));
    }

    /// Guards in front of writes, with the views that they alone need.
    void guardsOfWritesAreNamed() {
        const document::Document document = endsDocument();
        const std::vector<Value> inputs{input()};
        const auto made = exporting::onnxGraph(document, inputs);
        QVERIFY2(made.has_value(), made ? "" : made.error().text().c_str());
        QCOMPARE(made->notes.size(), std::size_t{2});
        QCOMPARE(made->notes[0].what,
                 std::string("guard is not in the file: what 'setitem' writes to is apart from what it reads"));
        QVERIFY2(made->notes[0].where.starts_with("node 'setitem_guard', operation "), made->notes[0].where.c_str());
        const exec::Recording recording = runGraph(made->graph, inputs);
        QVERIFY2(!recording.error, recording.error ? recording.error->text().c_str() : "");
        QCOMPARE(numbers(recording.outputs.at(0)), (std::vector<double>{1, 2, 1, 2}));
    }

    void dumpsKeepGuards() {
        const QTemporaryDir folder;
        const auto writes = exporting::makeDump(endsDocument(), {}, {});
        QVERIFY2(writes.has_value(), writes ? "" : writes.error().text().c_str());
        QVERIFY(writes->notes.empty());
        const io::dump::DumpFile again = readAgain(*writes, folder, "writes.dump");
        QCOMPARE(errorOf(again, input()), std::string());
        const std::string met = errorOf(again, floats({3}, {1, 2, 3}));
        QVERIFY2(met.find("node 'setitem': unsupported operation: some elements") != std::string::npos, met.c_str());

        document::OpenOptions options;
        options.tracer = "traced-module";
        const auto branching = document::open("zoo:branching", options);
        QVERIFY2(branching.has_value(), branching ? "" : branching.error().text().c_str());
        const auto branches = exporting::makeDump(**branching, {}, {});
        QVERIFY2(branches.has_value(), branches ? "" : branches.error().text().c_str());
        const std::string taken =
            errorOf(readAgain(*branches, folder, "branches.dump"), floats({2, 4}, std::vector<float>(8, -9)));
        QVERIFY2(taken.find("the guard does not hold") != std::string::npos, taken.c_str());
    }

    /// Their static form is one of ONNX operators, and has none.
    void dumpsForInferenceNameTheGuardsThatTheyLose() {
        document::OpenOptions options;
        options.tracer = "traced-module";
        const auto branching = document::open("zoo:branching", options);
        QVERIFY2(branching.has_value(), branching ? "" : branching.error().text().c_str());
        exporting::DumpOptions how;
        QVERIFY(how.inference.set("enable_ioc16", true));
        const auto dump = exporting::makeDump(**branching, {}, how);
        QVERIFY2(dump.has_value(), dump ? "" : dump.error().text().c_str());
        QCOMPARE(dump->notes.size(), std::size_t{3});
        QVERIFY2(dump->notes[2].what.starts_with("enable_ioc16 fixes the sizes"), dump->notes[2].what.c_str());
        QVERIFY2(dump->notes[0].what.starts_with("guard is not in the file: took the branch because"),
                 dump->notes[0].what.c_str());
        QVERIFY2(dump->notes[0].where.starts_with("node 'guard', operation "), dump->notes[0].where.c_str());
    }

    /// Nobody reads what it gives: it may raise all the same.
    void opaqueCallsAreAnError() {
        const trace::EvaluatorScope evaluator(document::kernelEvaluator());
        const auto net = custom("Net", [](Custom& self, In in) {
            self.at("opaque").call({in[0]}, {});
            return in[0] + 1;
        });
        net->addChild("opaque",
                      custom("Opaque", [](Custom&, In in) -> Var { return nn::sum(in[0]) > 0 ? in[0] : in[0] * 2; }));
        trace::RobustTracer tracer;
        const auto made = written(tracer.traceRobust(net));
        QVERIFY(!made.has_value());
        QCOMPARE(made.error().exitStatus(), 2);
        QVERIFY2(made.error().text().find("module 'opaque'") != std::string::npos, made.error().text().c_str());
    }

    /// What cannot be written, and why it is an opaque call.
    void opaqueCallsAreExplained() {
        const trace::EvaluatorScope evaluator(document::kernelEvaluator());
        const auto net = custom("Net", [](Custom& self, In in) { return self.at("opaque").call({in[0]}, {}); });
        net->addChild("opaque",
                      custom("Opaque", [](Custom&, In in) -> Var { return nn::sum(in[0]) > 0 ? in[0] : in[0] * 2; }));
        trace::RobustTracer tracer;
        document::Document document;
        document.graph = tracer.traceRobust(net);
        document.modules = std::make_shared<graph::ModuleTree>(tracer.tree());
        const std::vector<Value> inputs{input()};
        const auto made = exporting::onnxGraph(document, inputs);
        const auto dump = exporting::makeDump(document, {}, {});
        QVERIFY(!made && !dump);
        for (const base::Error& error : {made.error(), dump.error()}) {
            QCOMPARE(error.exitStatus(), 2);
            const std::string text = error.text();
            QVERIFY2(
                text.find("module 'opaque' of class Opaque (it could not be traced: TraceError: ") != std::string::npos,
                text.c_str());
            QVERIFY2(error.hint.find("--example") != std::string::npos, error.hint.c_str());
        }
        QVERIFY(made.error().text().find("that an ONNX file cannot hold") != std::string::npos);
        QVERIFY(dump.error().text().find("that a dump cannot hold") != std::string::npos);
    }

    void writesKeepTheirDtype() {
        const trace::EvaluatorScope evaluator(document::kernelEvaluator());
        const struct {
            std::function<Var(const Var&)> forward;
            DType dtype;
            std::vector<double> expected;
        } cases[] = {
            {[](const Var& x) {
                 return x.method("clone").method("add_", {Var(tensor::Tensor::of<double>({4}, {1, 1, 1, 1}))}, {},
                                                 "add_.Tensor");
             },
             DType::Float32,
             {2, 3, 4, 5}},
            {[](const Var& x) {
                 return x.method("to", {5}, {}, "to.dtype")
                     .method("clone")
                     .method("add_", {x * 10000}, {}, "add_.Tensor");
             },
             DType::Float16,
             {10000, 20000, 30000, 40000}},
            // 66016 - 4096 = 61920 is float16, 66016 is not: the sum is computed in float32.
            {[](const Var& x) {
                 return (x * 0 - 4096)
                     .method("to", {5}, {}, "to.dtype")
                     .method("clone")
                     .method("add_", {x * 0 + 66016}, {}, "add_.Tensor");
             },
             DType::Float16,
             {61920, 61920, 61920, 61920}},
            {[](const Var& x) { return x.method("clone").method("gt_", {2}, {}, "gt_.Scalar"); },
             DType::Float32,
             {0, 0, 1, 1}},
        };
        for (const auto& each : cases) {
            const auto net = custom("Net", [&each](Custom&, In in) { return each.forward(in[0]); });
            trace::ModulePathTracer tracer;
            const auto made = written(tracer.trace(net).value());
            QVERIFY2(made.has_value(), made ? "" : made.error().text().c_str());
            const exec::Recording recording = runGraph(made->graph, {input()});
            QVERIFY2(!recording.error, recording.error ? recording.error->text().c_str() : "");
            QCOMPARE(recording.outputs.at(0).tensor().dtype(), each.dtype);
            QCOMPARE(numbers(recording.outputs.at(0)), each.expected);
        }
    }
};

QTEST_GUILESS_MAIN(TestSavedChecks)

}  // namespace tst_saved_checks

#include "tst_saved_checks.moc"
