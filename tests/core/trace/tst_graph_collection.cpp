// Acceptance cases of recursive tracing: the graphs of a model and of what is inside of modules that fail. Numbers are
// those of part (d) of the robust tracer's reference.

#include <QtTest>

#include "tests/core/trace/robust_models.h"

namespace tst_graph_collection {

using namespace robust_models;
using std::string;
using trace::GraphCollection;
using trace::RobustTracer;

namespace {

GraphCollection asReference() {
    return GraphCollection([] { return std::make_unique<RobustTracer>(true); });
}

/// The traced roots in order, by their path below the model.
string roots(const GraphCollection& collection, nn::Module& model) {
    string result;
    const auto modules = trace::namedModules(model);
    for (const GraphCollection::Entry& entry : collection.entries()) {
        for (const auto& [path, module] : modules) {
            if (module == entry.root.get())
                result += (result.empty() ? "" : " ") + (path.empty() ? model.className() : path);
        }
    }
    return result;
}

string graphOf(const GraphCollection& collection, nn::Module& model, std::string_view path) {
    const nn::Module* module = model.find(path);
    const graph::InternalGraph* graph = module ? collection.find(*module) : nullptr;
    return graph ? names(*graph) : "no graph";
}

/// I{l}: calls `l` after `use` has asked the input for something that only a run can know.
std::shared_ptr<Custom> asking(std::function<Var(const Var&)> use) {
    auto inner = custom("I", [use](Custom& self, std::span<const Var> in) { return self.at("l")(in[0] + use(in[0])); });
    inner->addChild("l", linear());
    return inner;
}

}  // namespace

class TestGraphCollection : public QObject {
    Q_OBJECT

  private slots:
    void case01_w3_controlFlowInTheMiddle() {
        const auto net = custom("Net", [](Custom& self, std::span<const Var> in) {
            return self.at("head")(self.at("cf")(self.at("stem")(in[0])));
        });
        const auto cf = controlFlow();
        net->addChild("stem", linear());
        net->addChild("cf", cf);
        net->addChild("head", linear());
        net->addChild("unused", linear());
        GraphCollection collection = asReference();
        collection.recursiveTrace(net);
        QCOMPARE(roots(collection, *net), string("Net cf.a cf.b"));
        const graph::InternalGraph& whole = *collection.entries()[0].graph;
        QCOMPARE(names(whole), string("x stem cf head output"));
        QCOMPARE(call(whole, "cf"), string("cf(stem)"));
        QCOMPARE(call(whole, "head"), string("head(cf)"));
        QCOMPARE(graphOf(collection, *net, "cf.a"), string("input_1 _unnamed output"));
        QCOMPARE(target(*collection.find(*cf->child("a")), "_unnamed"), string());
        QCOMPARE(graphOf(collection, *net, "cf.b"), string("input_1 _0 _1 output"));
        QCOMPARE(target(*collection.find(*cf->child("b")), "_0"), string("0"));
        QCOMPARE(target(*collection.find(*cf->child("b")), "_1"), string("1"));
        for (const auto& [path, module] : trace::namedModules(*net)) {
            QCOMPARE(collection.isFailed(*module), path == "cf");
            QCOMPARE(collection.isUnvisited(*module), path == "unused");
        }
        QCOMPARE(*collection.failureMessage(*cf),
                 string("TraceError: symbolically traced variables cannot be used as inputs to control flow"));
    }

    /// The callable of a call and the expr itself say what the module says; anything else was never seen.
    void callablesAndExprsAreAsked() {
        const auto net = chain("Net", {{"stem", linear()}, {"cf", controlFlow()}});
        GraphCollection collection;
        collection.recursiveTrace(net);
        const graph::InternalGraph& whole = *collection.entries()[0].graph;
        const auto exprOf = [&whole](const char* node) -> const graph::Expr& {
            return whole.expr(whole.node(whole.findNode(node)).producer);
        };
        const graph::Expr &failed = exprOf("cf"), &stem = exprOf("stem"), &input = exprOf("x");
        const string message = "TraceError: symbolically traced variables cannot be used as inputs to control flow";
        QVERIFY(failed.callable);
        QVERIFY(collection.isFailed(*failed.callable) && collection.isFailed(failed));
        QCOMPARE(*collection.failureMessage(*failed.callable), message);
        QCOMPARE(*collection.failureMessage(failed), message);
        QVERIFY(!collection.isUnvisited(*failed.callable) && !collection.isUnvisited(failed));
        QVERIFY(!collection.isFailed(stem) && !collection.failureMessage(stem) && !collection.isUnvisited(stem));
        QVERIFY(!collection.isFailed(input) && !collection.failureMessage(input) && collection.isUnvisited(input));
        struct Unknown : graph::Callable {
            base::Result<std::vector<graph::Value>> call(std::span<const graph::Value>) const override {
                return base::usageError("not to be called");
            }
        } unknown;
        QVERIFY(!collection.isFailed(unknown) && !collection.failureMessage(unknown));
        QVERIFY(collection.isUnvisited(unknown));
        // In the graph of a part, targets are seen from the part.
        const graph::InternalGraph& b = *collection.find(*net->find("cf.b"));
        const graph::Expr& first = b.expr(b.node(b.findNode("_0")).producer);
        QVERIFY(!collection.isFailed(first) && !collection.isUnvisited(first));
        const GraphCollection fresh;
        QVERIFY(!fresh.isFailed(failed) && !fresh.failureMessage(failed) && fresh.isUnvisited(failed));
        QVERIFY(!fresh.isFailed(*failed.callable) && fresh.isUnvisited(*failed.callable));
    }

    void failuresListWhatWasTried() {
        using Attempts = std::vector<trace::Attempt>;
        const string flow = "TraceError: symbolically traced variables cannot be used as inputs to control flow";
        // C++ decides a branch at once, so not even the inside of one call can have both.
        const auto net = chain("Net", {{"stem", linear()}, {"cf", controlFlow()}});
        GraphCollection collection;
        collection.recursiveTrace(net);
        QCOMPARE(collection.attempts(*net->find("cf")),
                 (Attempts{{"trace its forward as part of Net", flow},
                           {"record it as one call with its operations inside", flow},
                           {"record it as one call that runs on values", {}}}));
        QVERIFY(collection.attempts(*net).empty() && collection.attempts(*net->find("stem")).empty());
        // A root is tried as a whole: with its default fixed, and without.
        const auto strict =
            custom("Strict", [](Custom&, std::span<const Var> in) { return in[0].iterate()[0] * in[1]; },
                   {{"x", std::nullopt, false}, {"k", tensor::Value::ofInt(2), false}});
        GraphCollection alone;
        alone.recursiveTrace(strict);
        const Attempts& tried = alone.attempts(*strict);
        QCOMPARE(tried.size(), 2U);
        QCOMPARE(tried[0].what, string("trace its forward as a root, with k=2 fixed"));
        QCOMPARE(tried[1].what, string("trace its forward as a root with every parameter symbolic"));
        for (const trace::Attempt& attempt : tried)
            QVERIFY2(attempt.failure.starts_with("TraceError: Proxy object cannot be iterated."),
                     attempt.text().c_str());
    }

    void case01_w3_controlFlowAlone() {
        const auto cf = controlFlow();
        GraphCollection collection = asReference();
        collection.recursiveTrace(cf);
        QCOMPARE(roots(collection, *cf), string("CF a b"));
        QCOMPARE(collection.entries()[0].graph->nodeCount(), 0U);
        QCOMPARE(collection.entries()[0].failure, *collection.failureMessage(*cf));
        QVERIFY(collection.isFailed(*cf));
        QCOMPARE(graphOf(collection, *cf, "b"), string("input_1 _0 _1 output"));
    }

    void case02_rangeOverASize() {
        const auto loop = [] {
            return custom("Loop", [](Custom&, std::span<const Var> in) {
                Var x = in[0];
                for (std::int64_t i = 0; i < in[0].attr("shape")[Var(0)].toInt(); ++i) x = x + 1;
                return x;
            });
        };
        const auto net = chain("Net", {{"r", loop()}, {"r2", loop()}});
        GraphCollection collection = asReference();
        collection.recursiveTrace(net);
        QCOMPARE(graphOf(collection, *net, ""), string("x r r2 output"));
        for (const char* path : {"r", "r2"}) {
            const string message = *collection.failureMessage(*net->child(path));
            QVERIFY(message.starts_with("TypeError: ") && message.ends_with("cannot be interpreted as an integer"));
        }
    }

    void case03_conversionToInt() {
        const auto net = chain("O", {{"i", asking([](const Var& x) { return Var(nn::sum(x).toInt()); })}});
        GraphCollection collection = asReference();
        collection.recursiveTrace(net);
        QCOMPARE(graphOf(collection, *net, ""), string("x i output"));
        QVERIFY(collection.failureMessage(*net->child("i"))->starts_with("TypeError: "));
        QCOMPARE(roots(collection, *net), string("O i.l"));
    }

    void case04_lengthReachesTheRoot() {
        const auto net = chain(
            "O2", {{"a", linear()}, {"i", asking([](const Var& x) { return Var(x.length()); })}, {"b", linear()}});
        GraphCollection collection = asReference();
        collection.recursiveTrace(net);
        QCOMPARE(roots(collection, *net), string("O2 a i b i.l"));
        QCOMPARE(graphOf(collection, *net, ""), string());
        QCOMPARE(graphOf(collection, *net, "i"), string());
        QVERIFY(collection.failureMessage(*net)->starts_with("RuntimeError: "));
        QVERIFY(collection.isFailed(*net->child("i")));
        for (const char* leaf : {"a", "b", "i.l"})
            QCOMPARE(graphOf(collection, *net, leaf), string("input_1 _unnamed output"));
        // Where every error is absorbed, the root is kept.
        QCOMPARE(names(*trace::recursiveTrace(net).entries()[0].graph), string("x a i b output"));
    }

    void case06_nestedFailures() {
        // D iterates a symbolic value before it calls anything; n has no forward.
        const auto d = custom("D", [](Custom&, std::span<const Var> in) { return in[0].iterate().front(); });
        d->addChild("cf", controlFlow());
        d->addChild("n", std::make_shared<nn::ModuleDict>(
                             std::vector<std::pair<string, std::shared_ptr<nn::Module>>>{{"k", linear()}}));
        const auto net = chain("O5", {{"d", d}});
        GraphCollection collection = asReference();
        collection.recursiveTrace(net);
        QCOMPARE(roots(collection, *net), string("O5 d.cf d.n d.cf.a d.cf.b d.n.k"));
        QCOMPARE(graphOf(collection, *net, ""), string("x d output"));
        string failed;
        for (const auto& [path, module] : trace::namedModules(*net)) {
            if (collection.isFailed(*module)) failed += path + ' ';
        }
        QCOMPARE(failed, string("d d.cf d.n "));
        QCOMPARE(*collection.failureMessage(*net->find("d.n")),
                 string("NotImplementedError: Module [ModuleDict] is missing the required \"forward\" function"));
    }

    void case11_sharedFailingModule() {
        const auto shared = controlFlow();
        const auto net = chain("Net", {{"a", shared}, {"b", shared}, {"c", linear()}});
        GraphCollection collection = asReference();
        collection.recursiveTrace(net);
        const graph::InternalGraph& whole = *collection.entries()[0].graph;
        QCOMPARE(names(whole), string("x a a_1 c output"));
        QCOMPARE(target(whole, "a"), string("a"));
        QCOMPARE(target(whole, "a_1"), string("a"));
        QCOMPARE(roots(collection, *net), string("Net a.a a.b"));
    }

    void case14_freshCollection() {
        GraphCollection collection;
        const auto net = linear();
        QVERIFY(collection.entries().empty());
        QVERIFY(collection.isUnvisited(*net));
        QVERIFY(!collection.isFailed(*net));
        QCOMPARE(collection.failureMessage(*net), nullptr);
        QCOMPARE(collection.find(*net), nullptr);
        collection.recursiveTrace(net);
        QVERIFY(collection.find(*net));
        const auto second = linear();
        collection.recursiveTrace(second);
        QCOMPARE(collection.find(*net), nullptr);
        QVERIFY(collection.isUnvisited(*net));
        QVERIFY(collection.find(*second));
    }

    void case17_everyGraphIsValid() {
        const auto net = chain(
            "Net", {{"cf", controlFlow()}, {"e", err()}, {"i", asking([](const Var& x) { return Var(x.length()); })}});
        const GraphCollection collection = trace::recursiveTrace(net);
        QVERIFY(collection.entries().size() > 3);
        for (const GraphCollection::Entry& entry : collection.entries()) QVERIFY(entry.graph->validate().has_value());
    }

    void concreteArgumentsAreForTheModelOnly() {
        // The model and its failing part's child both have a parameter test_flag.
        const auto inner = custom(
            "Inner", [](Custom& self, std::span<const Var> in) { return self.at("f")(in[0].iterate().front()); });
        inner->addChild("f", flag());
        const auto net = custom(
            "Net", [](Custom& self, std::span<const Var> in) { return self.at("inner")(in[1] ? in[0] + 1 : in[0]); },
            {{"x", std::nullopt, false}, {"test_flag", tensor::Value::ofBool(false), false}});
        net->addChild("inner", inner);
        GraphCollection collection;
        collection.recursiveTrace(net, {{"test_flag", tensor::Value::ofBool(true)}});
        QCOMPARE(graphOf(collection, *net, ""), string("x test_flag_1 eq _assert add inner output"));
        QCOMPARE(graphOf(collection, *net, "inner.f"), string("x test_flag_1 eq _assert conv output"));
    }

    /// What is too deep is not tried once more one level further down: parts with half the levels come next.
    void partsOfWhatIsTooDeep() {
        const std::function<std::shared_ptr<Custom>(int)> nested = [&](int levels) {
            auto made = custom("Deep", [levels](Custom& self, std::span<const Var> in) {
                volatile char frame[32768] = {1};  // a forward that uses much of the stack
                return levels > 1 ? self.at("c")(in[0]) + int{frame[0]} : in[0];
            });
            if (levels > 1) made->addChild("c", nested(levels - 1));
            return made;
        };
        const auto net = nested(600);
        net->addChild("small", linear());
        GraphCollection collection;
        collection.recursiveTrace(net);
        QVERIFY(collection.entries().front().failure.starts_with("RecursionError"));
        QVERIFY(collection.find(*net->child("small")));
        QVERIFY2(collection.entries().size() < 12, qPrintable(QString::number(collection.entries().size())));
        QVERIFY(collection.entries().back().failure.empty());
    }

    void stopsWhenTold() {
        const auto net = chain("Net", {{"cf", controlFlow()}});
        GraphCollection collection;
        int asked = 0;
        collection.recursiveTrace(net, {}, [&asked] { return ++asked > 1; });
        QCOMPARE(collection.entries().size(), 1U);
    }
};

QTEST_GUILESS_MAIN(TestGraphCollection)

}  // namespace tst_graph_collection

#include "tst_graph_collection.moc"
