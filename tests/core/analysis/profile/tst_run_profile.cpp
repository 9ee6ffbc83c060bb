// Profiles of runs: what was in memory is replayed by hand on a small network, sums are those of their parts, and the
// trace holds what the Trace Event Format asks for.

#include <QTemporaryDir>
#include <QtTest>

#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "core/analysis/profile/profile_json.h"
#include "core/document/document.h"
#include "core/session/profile/profile_run.h"
#include "tests/support/onnx_file.h"

namespace tst_run_profile {

using namespace sonde;
using analysis::MemoryPoint;
using analysis::RunProfile;
using base::MemoryKind;

namespace {

constexpr std::int64_t kRows = 64, kColumns = 1024;
constexpr std::int64_t kKiB = 1024;
/// Of a value of float32[64,1024]. It is a power of two, so that blocks are no larger.
constexpr std::int64_t kSize = 256 * kKiB;

/// a = relu(x), b = exp(a), c = a + b, d = -c.
std::string chain() {
    namespace onnx = test::onnxfile;
    return onnx::model(
        onnx::Graph{{{"Relu", {"x"}, {"a"}}, {"Exp", {"a"}, {"b"}}, {"Add", {"a", "b"}, {"c"}}, {"Neg", {"c"}, {"d"}}},
                    {onnx::valueInfo("x", 1, {kRows, kColumns})},
                    {onnx::valueInfo("d", 1, {kRows, kColumns})}});
}

std::shared_ptr<const document::Document> opened(const std::string& model) {
    const auto document = document::open(model, {});
    if (!document) qFatal("%s: %s", model.c_str(), document.error().text().c_str());
    return *document;
}

tensor::Value zerosFor(const graph::Node& node) {
    return tensor::Value(*tensor::Tensor::zeros(node.type.dtype, *node.type.staticShape()));
}

std::shared_ptr<const RunProfile> profiled(const document::Document& document, session::ProfileRequest request = {}) {
    for (const graph::NodeId input : document.graph->inputs())
        request.inputs.push_back(zerosFor(document.graph->node(input)));
    request.measuresLimits = false;
    const auto profile = session::profileRun(document, request);
    if (!profile) qFatal("%s", profile.error().text().c_str());
    return *profile;
}

}  // namespace

class TestRunProfile : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void initTestCase();
    void memoryIsThatOfAReplayByHand();
    void peakIsExplained();
    void sumsAreThoseOfTheirParts_data();
    void sumsAreThoseOfTheirParts();
    void costsGiveRates();
    void bodiesAreInsideOfTheirOwner();
    void branchesCountOnceInTheirModule();
    void packedWeightsStayForTheNextRun();
    void traceIsInTheFormat();
    void fusedOperationsNameTheirDoer();

  private:
    std::string file(const char* name) const { return (m_folder.path() + QLatin1Char('/') + name).toStdString(); }
    QTemporaryDir m_folder;
};

void TestRunProfile::initTestCase() { std::ofstream(file("chain.onnx"), std::ios::binary) << chain(); }

void TestRunProfile::memoryIsThatOfAReplayByHand() {
    session::ProfileRequest request;
    request.threads = 1;
    const auto profile = profiled(*opened(file("chain.onnx")), request);
    // What is taken and what values are in, after each change. A block is taken, then a value is in it; values go after
    // the last operation that reads them; d gets a block that is free.
    const std::vector<std::pair<std::int64_t, std::int64_t>> expected{{0, 0}, {1, 0}, {1, 1},          // a
                                                                      {2, 1}, {2, 2},                  // b
                                                                      {3, 2}, {3, 3}, {3, 2}, {3, 1},  // c; a and b go
                                                                      {3, 2}, {3, 1}};                 // d; c goes
    std::vector<std::pair<std::int64_t, std::int64_t>> seen;
    for (const MemoryPoint& point : profile->memory.curve) {
        QCOMPARE(point.of(MemoryKind::Block) % kSize, 0);
        QCOMPARE(point.of(MemoryKind::Lease) % kSize, 0);
        const std::pair now(point.of(MemoryKind::Block) / kSize, point.of(MemoryKind::Lease) / kSize);
        if (seen.empty() || seen.back() != now) seen.push_back(now);
    }
    QCOMPARE(seen.size(), expected.size());
    for (std::size_t i = 0; i < seen.size(); ++i) {
        QCOMPARE(seen[i].first, expected[i].first);
        QCOMPARE(seen[i].second, expected[i].second);
    }
    QCOMPARE(profile->memory.peak.of(MemoryKind::Block), 3 * kSize);
}

void TestRunProfile::peakIsExplained() {
    const auto profile = profiled(*opened(file("chain.onnx")));
    QCOMPARE(profile->nameOf(profile->memory.peakExpr), std::string("c"));
    std::map<std::string, const analysis::AliveMemory*> byHolder;
    std::int64_t sum = profile->memory.peak.unused();
    for (const analysis::AliveMemory& alive : profile->memory.alive) {
        sum += alive.bytes;
        for (const graph::NodeId node : alive.holders) byHolder[profile->graph->node(node).name] = &alive;
    }
    QCOMPARE(sum, profile->memory.peak.total());
    for (const char* name : {"a", "b", "c"}) {
        QVERIFY2(byHolder.contains(name), name);
        QCOMPARE(byHolder[name]->bytes, kSize);
        QCOMPARE(profile->nameOf(byHolder[name]->maker), std::string(name));
    }
    QCOMPARE(profile->nameOf(byHolder["a"]->lastReader), std::string("c"));
    QCOMPARE(profile->nameOf(byHolder["b"]->lastReader), std::string("c"));
    QCOMPARE(profile->nameOf(byHolder["c"]->lastReader), std::string("d"));
    QCOMPARE(analysis::aliveText(*profile, *byHolder["a"]), std::string("a, until c has run"));
}

void TestRunProfile::sumsAreThoseOfTheirParts_data() {
    QTest::addColumn<QString>("model");
    QTest::newRow("modules") << "zoo:resnet18_slim";
    QTest::newRow("called twice") << "zoo:shared_twice";
    QTest::newRow("transformer") << "zoo:gpt_mini";
}

void TestRunProfile::sumsAreThoseOfTheirParts() {
    QFETCH(const QString, model);
    const auto profile = profiled(*opened(model.toStdString()));
    std::int64_t self = 0;
    std::map<std::string, std::int64_t> selfOf, operationsOf;
    for (const analysis::ProfiledExpr& entry : profile->exprs) {
        QVERIFY(entry.selfNs >= 0 && entry.selfNs <= entry.totalNs);
        QVERIFY(entry.threadUse >= 0 && entry.threadUse <= 1);
        QVERIFY(entry.endNs <= profile->totalNs);
        self += entry.selfNs;
        const std::string qualname = profile->graph->expr(entry.expr).qualname.value_or("");
        selfOf[profile->tree->find(qualname) ? qualname : ""] += entry.selfNs;
        ++operationsOf[qualname];
    }
    QVERIFY(profile->exprs.size() > 5);
    QCOMPARE(self + profile->betweenNs, profile->totalNs);
    QVERIFY(profile->betweenNs >= 0);
    for (std::size_t i = 0; i < profile->modules.size(); ++i) {
        const std::string& qualname = profile->tree->module(i).qualname;
        std::int64_t below = 0;  // by name: what begins with "a.b." is below "a.b"
        for (const auto& [name, ns] : selfOf)
            if (qualname.empty() || name == qualname || name.starts_with(qualname + ".")) below += ns;
        QCOMPARE(profile->modules[i].totalNs, below);
        QCOMPARE(profile->modules[i].selfNs, selfOf.contains(qualname) ? selfOf[qualname] : 0);
    }
    QCOMPARE(profile->modules.front().totalNs, self);
}

void TestRunProfile::costsGiveRates() {
    const auto profile = profiled(*opened(file("chain.onnx")));
    const auto add =
        std::ranges::find_if(profile->exprs, [&](const auto& entry) { return profile->nameOf(entry.expr) == "c"; });
    QVERIFY(add != profile->exprs.end());
    // One sum for each element; two float32 are read and one is written.
    QCOMPARE(add->cost.flops.value(), double(kRows * kColumns));
    QCOMPARE(add->cost.bytes.value(), double(3 * kSize));
    QCOMPARE(add->cost.intensity().value(), 1.0 / 12);
    QCOMPARE(add->cost.flopRate(1'000).value(), double(kRows * kColumns) * 1e6);
    QVERIFY(!add->cost.byteRate(0));
    QCOMPARE(add->memory.valueBytes, kSize);
    QCOMPARE(add->memory.freedBytes, 2 * kSize);
}

void TestRunProfile::bodiesAreInsideOfTheirOwner() {
    const auto profile = profiled(*opened(SONDE_TEST_DATA "/models/control_flow.onnx"));
    std::size_t owners = 0;
    for (const analysis::ProfiledExpr& entry : profile->exprs) {
        const graph::Expr& expr = profile->graph->expr(entry.expr);
        if (expr.bodies.empty()) {
            QCOMPARE(entry.selfNs, entry.totalNs);
            QCOMPARE(entry.costNs(), entry.selfNs);
            continue;
        }
        std::int64_t inside = 0;
        for (const graph::BodyId body : expr.bodies)
            for (const graph::ExprId id : profile->graph->body(body).order)
                if (const auto* const inner = profile->of(id)) inside += inner->totalNs;
        if (inside == 0) continue;                        // a loop without iterations
        QCOMPARE(entry.costNs(), entry.totalNs);          // its FLOPs are those of what is inside
        QVERIFY(entry.totalNs - entry.selfNs >= inside);  // results of bodies are collected inside too
        ++owners;
    }
    QVERIFY(owners > 0);
    for (const analysis::ProfileSpan& span : profile->spans)
        QVERIFY(span.beginNs >= 0 && span.beginNs <= span.endNs && span.endNs <= profile->totalNs);
}

/// 64 × 1024 sums in the branch, which the branch's owner has too: the model has them once. One thread works all the
/// time.
void TestRunProfile::branchesCountOnceInTheirModule() {
    namespace onnx = test::onnxfile;
    const auto branch = [](const char* op, const char* name) {
        const onnx::Graph graph{.nodes = {{op, {"x", "x"}, {name}}},
                                .inputs = {},
                                .outputs = {onnx::valueInfo(name, 1, {kRows, kColumns})}};
        return graph.bytes();
    };
    std::ofstream(file("branch.onnx"), std::ios::binary)
        << onnx::model(onnx::Graph{{{"If",
                                     {"go"},
                                     {"y"},
                                     "",
                                     "",
                                     {onnx::graphAttribute("then_branch", branch("Add", "t")),
                                      onnx::graphAttribute("else_branch", branch("Sub", "e"))}}},
                                   {onnx::valueInfo("x", 1, {kRows, kColumns}), onnx::valueInfo("go", 9, {})},
                                   {onnx::valueInfo("y", 1, {kRows, kColumns})}});
    session::ProfileRequest request;
    request.threads = 1;
    const auto profile = profiled(*opened(file("branch.onnx")), std::move(request));
    QCOMPARE(profile->modules.front().cost.flops, std::optional(double(kRows * kColumns)));
    for (const analysis::ProfiledExpr& entry : profile->exprs)
        if (entry.selfNs > 0) QCOMPARE(entry.threadUse, 1.0);
}

void TestRunProfile::packedWeightsStayForTheNextRun() {
    const auto document = opened("zoo:resnet18_slim");
    session::ProfileRequest request;
    const auto first = profiled(*document, request);
    request.repeat = 2;
    const auto second = profiled(*document, request);
    QVERIFY(first->memory.peak.of(MemoryKind::Packed) > 0);
    QVERIFY(second->memory.curve.front().of(MemoryKind::Packed) > 0);
    QVERIFY(second->memory.peak.total() > 0);
}

void TestRunProfile::traceIsInTheFormat() {
    session::ProfileRequest request;
    request.threads = 2;
    const auto profile = profiled(*opened("zoo:resnet18_slim"), request);
    const auto trace = nlohmann::json::parse(analysis::traceEventsJson(*profile));
    QCOMPARE(trace.at("displayTimeUnit").get<std::string>(), std::string("ms"));
    // Of the document "Trace Event Format": complete events (X) have ts and dur, counters (C) numbers in args, metadata
    // (M) a name in args; events of one thread nest.
    std::set<std::string> threads, operations, categories;
    std::vector<std::pair<double, double>> open;
    std::size_t counters = 0;
    double last = 0;
    for (const auto& event : trace.at("traceEvents")) {
        const std::string phase = event.at("ph").get<std::string>();
        QVERIFY(event.at("name").is_string() && event.at("pid").is_number_integer() &&
                event.at("tid").is_number_integer());
        if (phase == "M") {
            const bool isThread = event.at("name") == "thread_name";
            QVERIFY(isThread || event.at("name") == "process_name");
            if (isThread) threads.insert(event.at("args").at("name").get<std::string>());
            continue;
        }
        QVERIFY(event.at("ts").is_number() && event.at("ts").get<double>() >= 0);
        if (phase == "C") {
            QCOMPARE(event.at("name").get<std::string>(), std::string("memory"));
            for (const auto& part : event.at("args")) QVERIFY(part.is_number());
            ++counters;
            continue;
        }
        QCOMPARE(phase, std::string("X"));
        QVERIFY(event.at("dur").get<double>() >= 0 && event.at("cat").is_string());
        categories.insert(event.at("cat").get<std::string>());
        if (event.at("tid") != 1) continue;
        const double begin = event.at("ts").get<double>(), end = begin + event.at("dur").get<double>();
        QVERIFY(begin >= last);
        last = begin;
        while (!open.empty() && open.back().second <= begin + 1e-6) open.pop_back();
        QVERIFY2(open.empty() || end <= open.back().second + 1e-6, event.dump().c_str());
        open.emplace_back(begin, end);
        operations.insert(event.at("name").get<std::string>());
    }
    QVERIFY(threads.contains("run") && threads.contains("worker 1"));
    QVERIFY(operations.contains("layer1.0.conv1") || operations.contains("layer1_0_conv1"));
    QVERIFY(categories.contains("module"));
    QVERIFY(counters > 10);
    QVERIFY(trace.at("profiler").is_object() && !trace.at("profiler").empty());
    QCOMPARE(trace.at("profile").at("format").get<std::string>(), std::string("sonde-profile"));
    QCOMPARE(trace.at("profile").at("nodes").size(), profile->exprs.size());
}

void TestRunProfile::fusedOperationsNameTheirDoer() {
    session::ProfileRequest request;
    request.isFused = true;
    const auto profile = profiled(*opened("zoo:resnet18_slim"), request);
    std::size_t fused = 0;
    for (const analysis::ProfiledExpr& entry : profile->exprs) {
        if (!entry.doneWith.valid()) continue;
        QCOMPARE(entry.selfNs, 0);
        QVERIFY(profile->of(entry.doneWith) && profile->of(entry.doneWith)->selfNs > 0);
        ++fused;
    }
    QVERIFY(fused > 8);  // every other ReLU of the network, at least
}

QTEST_APPLESS_MAIN(TestRunProfile)

}  // namespace tst_run_profile

#include "tst_run_profile.moc"
