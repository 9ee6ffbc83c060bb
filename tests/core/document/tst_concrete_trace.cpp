// Concrete traces of archives and built-in models through the front door, against values that PyTorch computed
// (tests/data/models/*.npz), and the custom tracer on them.

#include <QTemporaryDir>
#include <QtTest>

#include <array>

#include "core/analysis/compare.h"
#include "core/document/document.h"
#include "core/exec/runner.h"
#include "core/graph/guard.h"
#include "core/io/npz/npz.h"
#include "core/session/read_inputs.h"
#include "tests/support/script_archive.h"

namespace tst_concrete_trace {

using namespace sonde;

namespace {

std::string data(const std::string& name) { return SONDE_TEST_DATA "/models/" + name; }

base::Result<std::shared_ptr<const document::Document>> open(const std::string& model, const std::string& tracer,
                                                             const std::string& example) {
    document::OpenOptions options;
    options.tracer = tracer;
    options.inputData = example;
    return document::open(model, options);
}

std::size_t guards(const graph::InternalGraph& graph) {
    std::size_t count = 0;
    for (graph::ExprId id : graph.recursiveOrder(graph.mainId())) count += graph::isGuard(graph.expr(id)) ? 1 : 0;
    return count;
}

std::size_t opaqueCalls(const graph::InternalGraph& graph) {
    std::size_t count = 0;
    for (graph::ExprId id : graph.recursiveOrder(graph.mainId())) count += graph.expr(id).callable ? 1 : 0;
    return count;
}

base::Result<std::vector<analysis::ComparedCase>> compared(const document::Document& document,
                                                           const std::string& reference) {
    SONDE_ASSIGN(const auto npz, io::NpzFile::open(reference));
    analysis::ComparedModel model;
    model.graph = document.graph;
    model.looseNames = true;
    for (const document::NamedNode& input : document.inputs) model.inputs.emplace_back(input.name, input.node);
    for (const document::NamedNode& output : document.outputs) model.outputs.emplace_back(output.name, output.node);
    const analysis::ReferenceValues values{npz.keys(), [&npz](const std::string& key) { return npz.read(key); }};
    exec::Runner runner(1);
    return analysis::compare(model, values, {}, runner, {});
}

/// "ok", "FAIL" or the error of a case.
std::string outcome(const analysis::ComparedCase& result) {
    if (result.error) return result.error->text();
    std::size_t outputs = 0;
    for (const analysis::ComparedValue& value : result.values) {
        // A number that the example has settled is a constant of the result and no node, so there is nothing to
        // compare.
        const bool isSettled = !value.hasValue && value.name == "out_0_2";
        if (value.isOutput && !value.ok && !isSettled) return "FAIL " + value.name;
        outputs += value.isOutput ? 1 : 0;
    }
    return outputs > 0 ? "ok" : "nothing compared";
}

}  // namespace

class TestConcreteTrace : public QObject {
    Q_OBJECT

  private slots:
    void eachExampleIsRightForItsOwnInput_data() {
        QTest::addColumn<QString>("model");
        QTest::addColumn<int>("example");
        QTest::addColumn<QString>("tracer");
        for (const char* tracer : {"", "module-path", "custom"}) {
            for (int i = 0; i < 3; ++i) QTest::addRow("control_flow %d %s", i, tracer) << "control_flow" << i << tracer;
            for (int i = 0; i < 2; ++i)
                QTest::addRow("script_features %d %s", i, tracer) << "script_features" << i << tracer;
            for (int i = 0; i < 2; ++i)
                QTest::addRow("robust_nested %d %s", i, tracer) << "robust_nested" << i << tracer;
        }
    }

    void eachExampleIsRightForItsOwnInput() {
        QFETCH(QString, model);
        QFETCH(int, example);
        QFETCH(QString, tracer);
        const std::string name = model.toStdString();
        const std::string reference = data(name + ".npz");
        const auto document = open(data(name + ".script.pt"), tracer.toStdString(),
                                   example ? reference + "#case" + std::to_string(example) : reference);
        QVERIFY2(document.has_value(), document ? "" : document.error().text().c_str());
        QCOMPARE(opaqueCalls(*(*document)->graph), std::size_t{0});
        QVERIFY(guards(*(*document)->graph) > 0);
        QVERIFY((*document)->graph->validate().has_value());
        const auto cases = compared(**document, reference);
        QVERIFY2(cases.has_value(), cases ? "" : cases.error().text().c_str());
        QVERIFY(cases->size() > static_cast<std::size_t>(example));
        // Its own case is right; another one is right, too, or fails at a guard: never a wrong number.
        for (std::size_t i = 0; i < cases->size(); ++i) {
            const std::string result = outcome((*cases)[i]);
            const bool good = result == "ok" || (i != static_cast<std::size_t>(example) &&
                                                 result.find("the guard does not hold") != std::string::npos);
            QVERIFY2(good, (std::to_string(i) + ": " + result).c_str());
        }
    }

    void anotherBranchFailsAtTheGuard() {
        // Of the three cases of control_flow some have a positive sum and others not.
        const auto document = open(data("control_flow.script.pt"), "", data("control_flow.npz"));
        QVERIFY(document.has_value());
        const auto cases = compared(**document, data("control_flow.npz"));
        QVERIFY(cases.has_value());
        std::size_t refused = 0;
        for (const analysis::ComparedCase& result : *cases) {
            if (!result.error) continue;
            ++refused;
            QCOMPARE(result.error->exitStatus(), 4);
            QVERIFY2(result.error->text().find("'guard") != std::string::npos, result.error->text().c_str());
        }
        QVERIFY(refused > 0);
    }

    void builtInModelsAreFollowed() {
        const auto document = open("zoo:branching", "module-path", "x:#rand(0,1,2,4)");
        QVERIFY2(document.has_value(), document ? "" : document.error().text().c_str());
        const graph::NodeId guard = (*document)->graph->findNode("guard");
        QVERIFY(guard.valid());
        QCOMPARE((*document)->graph->expr((*document)->graph->node(guard).producer).qualname.value(),
                 std::string("cf"));
    }

    void customTracerRunsRight_data() {
        QTest::addColumn<QString>("model");
        for (const char* name :
             {"mlp_functional.trace", "shared_twice.trace", "nested_containers.trace", "gpt_mini.trace",
              "unet_small.trace", "shared_twice.script", "nested_containers.script", "mlp_functional.script"}) {
            QTest::newRow(name) << name;
        }
    }

    void customTracerRunsRight() {
        QFETCH(QString, model);
        const std::string name = model.toStdString();
        const auto document = open(data(name + ".pt"), "custom", "");
        QVERIFY2(document.has_value(), document ? "" : document.error().text().c_str());
        const auto cases = compared(**document, data(name.substr(0, name.find('.')) + ".npz"));
        QVERIFY2(cases.has_value(), cases ? "" : cases.error().text().c_str());
        for (const analysis::ComparedCase& result : *cases) QCOMPARE(outcome(result), std::string("ok"));
    }

    /// Traced with the inputs of the first case, right for those of the others, whose sizes differ.
    /// A value that --concrete fixes is no input of the model, whoever traces.
    void fixedParametersNeedNoInput_data() {
        QTest::addColumn<QString>("tracer");
        for (const char* tracer : {"", "robust", "custom", "traced-module"})
            QTest::addRow("tracer '%s'", tracer) << tracer;
    }
    void fixedParametersNeedNoInput() {
        QFETCH(QString, tracer);
        const QTemporaryDir folder;
        const std::string path = folder.filePath("m.pt").toStdString();
        test::writeScript(path,
                          "class M(Module):\n  __parameters__ = []\n  __buffers__ = []\n"
                          "  def forward(self: __torch__.M,\n    x: Tensor,\n    k: int,\n    flag: bool) -> Tensor:\n"
                          "    a = torch.clone(x)\n    for i in range(k):\n"
                          "      _0 = torch.mul_(torch.select(a, 0, i), 10)\n"
                          "    if flag:\n      _1 = torch.neg_(a)\n    else:\n      pass\n    return a\n");
        const auto opened = [&](const std::string& example) {
            document::OpenOptions options;
            options.tracer = tracer.toStdString();
            options.concrete = {{"k", "2"}};
            options.inputData = example;
            return document::open(path, options);
        };
        const std::string given = "x:[1.0,2.0,3.0,4.0];flag:true";
        const auto document = opened(tracer == "traced-module" ? given : std::string());
        QVERIFY2(document.has_value(), document ? "" : document.error().text().c_str());
        const auto cases = session::readCases(**document, {given, "bgr", 0}, {});
        QVERIFY2(cases.has_value(), cases ? "" : cases.error().text().c_str());
        const auto plan = exec::Plan::make((*document)->graph, {});
        QVERIFY(plan.has_value());
        std::vector<tensor::Value> values((*document)->graph->inputs().size());  // none: what is fixed
        for (std::size_t i = 0; i < (*document)->inputs.size(); ++i) {
            const auto at = std::ranges::find((*document)->graph->inputs(), (*document)->inputs[i].node);
            values[static_cast<std::size_t>(at - (*document)->graph->inputs().begin())] = cases->front().values[i];
        }
        exec::Runner runner(1);
        const exec::Recording recording = runner.run(**plan, values, {});
        QVERIFY2(!recording.error, recording.error ? recording.error->text().c_str() : "");
        const tensor::Tensor& out = recording.outputs.front().tensor();
        for (int i = 0; i < 4; ++i) QCOMPARE(out.toDouble(i), (std::array{-10., -20., -3., -4.})[std::size_t(i)]);
        // Who gives it all the same learns why not.
        if (tracer != "traced-module") return;
        const auto doubled = opened(given + ";k:2");
        QVERIFY(!doubled.has_value());
        QVERIFY2(doubled.error().what.find("its own value for input 'k'") != std::string::npos,
                 doubled.error().text().c_str());
    }

    void tracedModulesWorkAtOtherSizes_data() {
        QTest::addColumn<QString>("model");
        for (const char* name : {"gpt_mini.script", "gpt_mini.trace", "lstm_classifier.trace", "mlp_functional.script",
                                 "shared_twice.script", "unet_small.trace"}) {
            QTest::newRow(name) << name;
        }
    }
    void tracedModulesWorkAtOtherSizes() {
        QFETCH(QString, model);
        const std::string name = model.toStdString();
        const std::string reference = data(name.substr(0, name.find('.')) + ".npz");
        const auto document = open(data(name + ".pt"), "traced-module", reference);
        QVERIFY2(document.has_value(), document ? "" : document.error().text().c_str());
        const auto cases = compared(**document, reference);
        QVERIFY2(cases.has_value(), cases ? "" : cases.error().text().c_str());
        for (const analysis::ComparedCase& result : *cases) QCOMPARE(outcome(result), std::string("ok"));
    }

    /// Archives say nothing of their inputs: an example without a shape has the one that the layers tell, as a first
    /// run has.
    void examplesHaveTheShapesThatLayersTell_data() {
        QTest::addColumn<QString>("model");
        QTest::addColumn<QString>("tracer");
        QTest::addColumn<QString>("example");
        QTest::addColumn<QString>("shape");
        for (const char* tracer : {"", "module-path", "robust", "traced-module"}) {
            QTest::addRow("vit_small, %s", tracer) << "vit_small.script" << tracer << "#rand(0,1)"
                                                   << "float32[1,3,32,32]";  // it asserts its sizes
            QTest::addRow("unet_small, %s", tracer) << "unet_small.trace" << tracer << "#zeros"
                                                    << "float32[1,3,224,224]";
        }
        QTest::newRow("its own shape") << "unet_small.trace"
                                       << "module-path"
                                       << "#rand(0,1,2,3,64,64)"
                                       << "float32[2,3,64,64]";
    }
    void examplesHaveTheShapesThatLayersTell() {
        QFETCH(QString, model);
        QFETCH(QString, tracer);
        QFETCH(QString, example);
        QFETCH(QString, shape);
        const auto document = open(data(model.toStdString() + ".pt"), tracer.toStdString(), example.toStdString());
        QVERIFY2(document.has_value(), document ? "" : document.error().text().c_str());
        if (tracer == "robust") return;  // the example is not for it
        QCOMPARE(QString::fromStdString((*document)->graph->node((*document)->inputs.at(0).node).type.text()), shape);
    }

    void exampleInputsAreChecked() {
        const auto document = open("zoo:branching", "", "nothing.npy");
        QVERIFY(!document);
    }
};

QTEST_GUILESS_MAIN(TestConcreteTrace)

}  // namespace tst_concrete_trace

#include "tst_concrete_trace.moc"
