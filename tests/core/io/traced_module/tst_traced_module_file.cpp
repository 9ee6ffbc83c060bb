// Acceptance cases of TracedModule: files. Numbers are those of part (d) of its reference.

#include <QTemporaryDir>

#include "core/io/traced_module/codec.h"
#include "core/io/traced_module/traced_module_file.h"
#include "core/trace/traced_module/upgrade.h"
#include "tests/support/traced_models.h"

namespace tst_traced_module_file {

using namespace sonde;
using namespace sonde::test;
using trace::ModuleGraph;
using trace::TracedExpr;
using trace::TracedModule;
using trace::TracedNode;

namespace {

/// 6 is the number of float32 in archives.
Var cast(const Var& x) { return trace::callMethod(trace::Function{"to.dtype", "to", "to"}, {x, 6}); }

std::string allText(const TracedModule& module) {
    std::string text;
    for (const TracedNode* node : (*module.graph())->nodes()) {
        text += std::to_string(node->id()) + ' ' + node->fullName() + ' ' + node->qualname() + ' ' +
                node->type().text() + '\n';
    }
    for (const TracedExpr* expr : (*module.graph())->exprs()) text += expr->text("ip") + '\n';
    return text;
}

}  // namespace

class TestTracedModuleFile : public QObject {
    Q_OBJECT

  private slots:
    void initTestCase() { m_scope = std::make_unique<trace::EvaluatorScope>(document::kernelEvaluator()); }
    void cleanupTestCase() { m_scope.reset(); }

    void case26_saveAndLoad() {
        const auto made = traced(net(), {netInput()});
        ModuleGraph& graph = graphOf(made);
        made->setWatchPoints({named(graph, "block0_out")});
        QVERIFY(made->setEndPoints({named(graph, "block1_out")}));
        const auto saved = io::saveTracedModule(*made, path("net.sondetm"));
        QVERIFY2(saved, saved ? "" : saved.error().text().c_str());
        const auto loaded = io::loadTracedModule(path("net.sondetm"));
        QVERIFY2(loaded, loaded ? "" : loaded.error().text().c_str());
        COMPARE_TEXT(allText(**loaded), allText(*made).c_str());
        QCOMPARE(graphOf(*loaded).counters(), graph.counters());
        QVERIFY((*loaded)->watchNodeValue().empty());
        QVERIFY(graphOf(*loaded).endPoints().empty());
        made->clearEndPoints();
        QVERIFY(tensor::identical(*(*loaded)->run({netInput()}), *made->run({netInput()})));
        QCOMPARE(graphOf(*loaded).modules("Conv2d").asCount(), 2U);
        QCOMPARE(graphOf(*loaded).modules<nn::Conv2d>().asCount(), 2U);
        QCOMPARE(graphOf(*loaded).modules<nn::BatchNorm2d>().asCount(), 2U);
        QCOMPARE(graphOf(*loaded).modules<nn::Linear>().asCount(), 0U);
        // What derives from a class is one of it.
        QCOMPARE(graphOf(*loaded).modules<nn::Conv>().asCount(), 2U);
        QCOMPARE(graphOf(*loaded).modules<nn::ConvLayer>().asCount(), 2U);
        QCOMPARE(graphOf(*loaded).modules<nn::ConvTranspose>().asCount(), 0U);
        QCOMPARE(graphOf(*loaded).modules<nn::ChannelNorm>().asCount(), 2U);
        QVERIFY(graphOf(*loaded).validate());
        // Again the same.
        QVERIFY(io::saveTracedModule(**loaded, path("again.sondetm")));
        COMPARE_TEXT(allText(**io::loadTracedModule(path("again.sondetm"))), allText(*made).c_str());
    }

    void case26_structuresAndConstants() {
        auto module = lambda("F",
                             [](Lambda&, std::span<const Var> in) {
                                 return Var::dict({{Value(std::string("a")), in[0][Var("p")] * Var(vec({2})) * in[1]}});
                             },
                             {{"d", std::nullopt, false}, {"k", Value::ofFloat(1.5), true}});
        const Value d = Value::dict({{Value(std::string("p")), vec({1, 2})}});
        const auto made = traced(module, {d});
        QVERIFY(io::saveTracedModule(*made, path("f.sondetm")));
        const auto loaded = *io::loadTracedModule(path("f.sondetm"));
        COMPARE_TEXT(allText(*loaded), allText(*made).c_str());
        QCOMPARE(numbers((*loaded->run({d})).dictItems()[0].second), (std::vector<double>{3, 6}));
        QVERIFY(!loaded->run({d}, {{"k", Value::ofInt(1)}}));
    }

    /// Of every kind of value: what a dump writes can be read again.
    void typesOfNodesAreReadAgain() {
        for (int kind = 0; kind <= static_cast<int>(tensor::ValueKind::Object); ++kind) {
            tensor::TypeInfo type;
            type.kind = static_cast<tensor::ValueKind>(kind);
            if (type.isTensor()) type = tensor::TypeInfo::tensor(tensor::DType::Int8, tensor::Shape{2});
            QCOMPARE(io::tm::typeFrom(io::tm::toJson(type)).text(), type.text());
        }
        QVERIFY_EXCEPTION_THROWN(io::tm::typeFrom({{"kind", static_cast<int>(tensor::ValueKind::Object) + 1}}),
                                 io::tm::CodecError);
    }

    void case26_hooks() {
        const auto made =
            traced(lambda("Fn", [](Lambda&, std::span<const Var> in) { return nn::linear(in[0], in[1], Var::none()); },
                          {{"x", std::nullopt, false}, {"weight", std::nullopt, false}}),
                   {ramp({2, 3}), ramp({4, 3})});
        QCOMPARE(graphOf(made).body().size(), 1U);
        QVERIFY(io::saveTracedModule(*made, path("old.sondetm"), "0"));
        std::string version;
        const auto hook = [&](TracedExpr& expr, std::string_view fileVersion) {
            version = fileVersion;
            auto editor = *expr.graph().edit();
            TracedNode* weight = expr.inputs()[1];
            TracedNode* made = editor.node(cast(editor[weight]));
            editor.commit();
            (void)expr.replaceInputs({{weight, made}});
        };
        QVERIFY(trace::registerUpgrade(trace::UpgradeKind::Function, "linear", hook));
        QVERIFY(!trace::registerUpgrade(trace::UpgradeKind::Function, "linear", hook));
        const auto loaded = io::loadTracedModule(path("old.sondetm"));
        QVERIFY2(loaded, loaded ? "" : loaded.error().text().c_str());
        COMPARE_TEXT(version, "0");
        ModuleGraph& graph = graphOf(*loaded);
        QCOMPARE(graph.body().size(), 2U);
        COMPARE_TEXT(names(graph.nodes()), "self x weight to_out linear_out");
        COMPARE_TEXT(ids(graph.nodes()), "0 1 2 3 4");
        COMPARE_TEXT(names(graph.body()[1]->inputs()), "x to_out");
        QVERIFY(graph.validate());
        // A file of the same version is left alone.
        QVERIFY(io::saveTracedModule(*made, path("new.sondetm")));
        QCOMPARE(graphOf(*io::loadTracedModule(path("new.sondetm"))).body().size(), 1U);
        QVERIFY(trace::unregisterUpgrade(trace::UpgradeKind::Function, "linear"));
    }

    void case33_editsGoOnFromTheFilesCounters() {
        const auto made = traced(seed(), {vec({0})});
        QVERIFY(io::saveTracedModule(*made, path("seed.sondetm")));
        const auto other = traced(net(), {netInput()});
        const auto loaded = *io::loadTracedModule(path("seed.sondetm"));
        ModuleGraph& graph = graphOf(loaded);
        TracedNode* added = nullptr;
        {
            auto editor = *graph.edit();
            added = editor.node(editor[graph.outputs()[0]] * 2);
        }
        QCOMPARE(added->id(), 4U);
        QCOMPARE(added->expr().id(), 4U);
        COMPARE_TEXT(added->name(), "mul_out");
    }

    void brokenFilesAreRefused() {
        const auto made = traced(net(), {netInput()});
        QVERIFY(io::saveTracedModule(*made, path("whole.sondetm")));
        QFile file(QString::fromStdString(path("whole.sondetm").string()));
        QVERIFY(file.open(QIODevice::ReadOnly));
        const QByteArray whole = file.readAll();
        const auto loads = [&](const QByteArray& bytes) {
            QFile out(QString::fromStdString(path("broken.sondetm").string()));
            if (!out.open(QIODevice::WriteOnly)) return true;
            out.write(bytes);
            out.close();
            return static_cast<bool>(io::loadTracedModule(path("broken.sondetm")));
        };
        QVERIFY(loads(whole));
        for (const qsizetype size : {0, 5, 15, 16, 400, static_cast<int>(whole.size()) - 200})
            QVERIFY2(!loads(whole.left(size)), qPrintable(QString::number(size)));
        for (const auto& [from, to] :
             std::vector<std::pair<QByteArray, QByteArray>>{{"\"n\":0", "\"n\":9"},
                                                            {"\"parent\":null", "\"parent\":0"},
                                                            {"\"offset\":0", "\"offset\":1"},
                                                            {"\"graph\":0", "\"graph\":1"},
                                                            {"\"kind\":2", "\"kind\":7"}}) {
            QByteArray changed = whole;
            QVERIFY2(changed.contains(from), from.constData());
            changed.replace(from, to);
            QVERIFY2(!loads(changed), from.constData());
        }
    }
    /// A bool of a file may be any byte.
    void boolsAreZeroOrOne() {
        tensor::Tensor flags = *tensor::Tensor::allocate(tensor::DType::Bool, {9});
        const QByteArray pattern("\1\0\0\1\1\1\1\0\1", 9), other("\1\0\0\2\xff\1\1\0\1", 9);
        std::memcpy(flags.mutableBytes(), pattern.constData(), 9);
        const Value x = vec({3, 3, 3, 3, 3, 3, 3, 3, 3});
        const auto made =
            traced(lambda("B", [&](Lambda&, std::span<const Var> in) { return in[0] * Var(Value(flags)); },
                          {{"x", std::nullopt, false}}),
                   {x});
        QVERIFY(io::saveTracedModule(*made, path("flags.sondetm")));
        QFile file(QString::fromStdString(path("flags.sondetm").string()));
        QVERIFY(file.open(QIODevice::ReadWrite));
        QByteArray bytes = file.readAll();
        QCOMPARE(bytes.count(pattern), 1);
        bytes.replace(pattern, other);
        QVERIFY(file.seek(0) && file.write(bytes) == bytes.size());
        file.close();
        const auto loaded = io::loadTracedModule(path("flags.sondetm"));
        QVERIFY2(loaded, loaded ? "" : loaded.error().text().c_str());
        QCOMPARE(numbers(*(*loaded)->run({x})), (std::vector<double>{3, 0, 0, 3, 3, 3, 3, 0, 3}));
    }
    void nothingStandsBehindWhatCollects() {
        const std::vector<trace::ForwardParameter> parameters{
            {"args", std::nullopt, false, false, true}, {"k", std::nullopt, true}, {"x", std::nullopt, false}};
        QVERIFY(io::saveTracedModule(TracedModule("F", parameters, true, false), path("order.sondetm")));
        const auto loaded = io::loadTracedModule(path("order.sondetm"));
        QVERIFY(!loaded && loaded.error().what.find("follows one that collects") != std::string::npos);
    }

    void unknownTypesAreNamed() {
        class Odd final : public tensor::ObjectBase {
            std::string typeName() const override { return "OddLeaf"; }
        };
        trace::registerSupportedType("OddLeaf");
        const auto made = traced(lambda("O", [](Lambda&, std::span<const Var> in) { return in[0] + 1; },
                                        {{"x", std::nullopt, false}, {"o", std::nullopt, false}}),
                                 {vec({1}), Value::object(std::make_shared<Odd>())});
        const auto saved = io::saveTracedModule(*made, path("odd.sondetm"));
        QVERIFY(!saved && QString::fromStdString(saved.error().hint).contains("registerSupportedType(\"OddLeaf\")"));
    }

  private:
    std::filesystem::path path(const std::string& name) const {
        return std::filesystem::path(m_directory.path().toStdString()) / name;
    }

    std::unique_ptr<trace::EvaluatorScope> m_scope;
    QTemporaryDir m_directory;
};

QTEST_GUILESS_MAIN(TestTracedModuleFile)

}  // namespace tst_traced_module_file

#include "tst_traced_module_file.moc"
