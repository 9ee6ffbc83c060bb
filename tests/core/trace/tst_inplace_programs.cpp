// Random programs of views, writes, branches and reads: every way to run them gives what PyTorch's eager mode gives, or
// refuses. The bool comes from an interpreter on plain arrays (tests/support/programs).
//
// SONDE_RANDOM_PROGRAMS=N runs N programs (300), SONDE_RANDOM_SEED=S begins with program S (1), SONDE_RANDOM_MODE=NAME
// takes one way alone.

#include <QTemporaryDir>
#include <QtTest>

#include "core/document/evaluator.h"
#include "core/document/model_passes.h"
#include "core/exec/runner.h"
#include "core/io/torchscript/script_module.h"
#include "core/passes/inplace.h"
#include "core/passes/pass.h"
#include "core/trace/custom_tracer.h"
#include "core/trace/robust_tracer.h"
#include "core/trace/traced_module.h"
#include "core/trace/traced_module/inline_graph.h"
#include "tests/support/programs/generator.h"
#include "tests/support/programs/module.h"
#include "tests/support/programs/script.h"

namespace tst_inplace_programs {

using namespace sonde;
using namespace sonde::test::programs;
using graph::InternalGraph;
using tensor::Tensor;
using tensor::Value;
using GraphPtr = std::shared_ptr<const InternalGraph>;

namespace {

struct Result {
    Ints shape;
    tensor::DType dtype = tensor::DType::Undefined;
    std::vector<double> values;
};
using Results = base::Result<std::vector<Result>>;

tensor::DType dtypeOf(Type type) {
    using enum tensor::DType;
    constexpr tensor::DType kTypes[] = {Int64, Float16, Float32, Float64};
    return kTypes[static_cast<std::size_t>(type)];
}

std::vector<Result> resultsOf(const std::vector<Array>& arrays) {
    std::vector<Result> results;
    for (const Array& array : arrays) results.push_back({array.shape, dtypeOf(array.type), array.values()});
    return results;
}

std::vector<Value> valuesOf(const std::vector<Array>& arrays) {
    std::vector<Value> values;
    for (const Array& array : arrays) {
        const std::vector<double> all = array.values();
        values.emplace_back(Tensor::of<float>(tensor::Shape(array.shape), std::vector<float>(all.begin(), all.end())));
    }
    return values;
}

Results resultsOf(const std::vector<Value>& values) {
    std::vector<Result> results;
    for (const Value& value : values) {
        if (!value.isTensor()) return base::runError("a result is no tensor: " + value.typeText());
        Result result;
        result.dtype = value.tensor().dtype();
        result.shape.assign(value.tensor().shape().begin(), value.tensor().shape().end());
        for (std::int64_t i = 0; i < value.tensor().numel(); ++i) result.values.push_back(value.tensor().toDouble(i));
        results.push_back(std::move(result));
    }
    return results;
}

std::string text(const std::vector<Result>& results) {
    std::string out;
    for (const Result& result : results) {
        out += std::string(tensor::name(result.dtype)) + "[";
        for (std::int64_t d : result.shape) out += std::to_string(d) + ",";
        out += "]{";
        for (double value : result.values) out += QByteArray::number(value, 'g', 6).toStdString() + " ";
        out += "} ";
    }
    return out;
}

bool agree(const std::vector<Result>& a, const std::vector<Result>& b) {
    if (a.size() != b.size()) return false;
    for (std::size_t i = 0; i < a.size(); ++i) {
        if (a[i].shape != b[i].shape || a[i].dtype != b[i].dtype || a[i].values.size() != b[i].values.size())
            return false;
        const double tolerance = a[i].dtype == tensor::DType::Float16 ? 1e-3 : 1e-5;
        for (std::size_t k = 0; k < a[i].values.size(); ++k) {
            const double x = a[i].values[k], y = b[i].values[k];
            if (x != y && !(std::abs(x - y) <= tolerance * std::max(1.0, std::abs(y)))) return false;
        }
    }
    return true;
}

/// A program that was traced once, and then is run.
using Traced = base::Result<GraphPtr>;

std::shared_ptr<nn::Module> moduleOf(const Program& program) { return std::make_shared<ProgramModule>(program); }

/// The same program as an archive of TorchScript.
std::shared_ptr<io::script::ScriptModule> scriptOf(const Program& program, bool asWritten = false) {
    static const QTemporaryDir folder;
    const std::filesystem::path path = folder.filePath("program.pt").toStdString();
    Script(program.seed % 2 == 0).write(program, path);
    const auto archive = io::script::Archive::open(path);
    if (!archive) qFatal("%s", archive.error().text().c_str());
    (*archive)->setAsWritten(asWritten);
    const auto root = io::script::makeRootModule(*archive);
    if (!root) qFatal("%s", root.error().text().c_str());
    return std::dynamic_pointer_cast<io::script::ScriptModule>(*root);
}

/// A graph may call functions of the module that it was traced from: it keeps it.
GraphPtr keeping(std::shared_ptr<trace::Module> module, GraphPtr graph) {
    const auto both =
        std::make_shared<std::pair<std::shared_ptr<trace::Module>, GraphPtr>>(std::move(module), std::move(graph));
    return {both, both->second.get()};
}

Traced byModulePath(const Program& program) {
    trace::ModulePathTracer tracer;
    const auto root = moduleOf(program);
    SONDE_ASSIGN(GraphPtr graph, tracer.trace(root));
    return keeping(root, std::move(graph));
}

Traced byRobust(const Program& program) {
    trace::RobustTracer tracer;
    const auto root = moduleOf(program);
    GraphPtr graph = tracer.traceRobust(root);
    if (const std::string* failure = tracer.failureMessage(*root)) return base::runError(*failure);
    return keeping(root, std::move(graph));
}

Traced byTracedModule(const Program& program) {
    const auto root = moduleOf(program);
    SONDE_ASSIGN(auto module, trace::traceModule(root, valuesOf(inputsFor(program, program.seed))));
    SONDE_ASSIGN(auto inlined, trace::inlineTracedModule(module));
    return keeping(root, std::move(inlined.graph));
}

Traced byCustom(const Program& program) {
    const auto root = moduleOf(program);
    SONDE_ASSIGN(GraphPtr graph, trace::CustomTracer().trace(root));
    return keeping(root, std::move(graph));
}

Traced byCustomAsRecorded(const Program& program) {
    trace::CustomTraceOptions how;
    how.removeInPlace = false;
    const auto root = moduleOf(program);
    SONDE_ASSIGN(GraphPtr graph, trace::CustomTracer().traceCustom(root, how));
    return keeping(root, std::move(graph));
}

Traced archiveByModulePath(const Program& program) {
    trace::ModulePathTracer tracer;
    const auto root = scriptOf(program);
    SONDE_ASSIGN(GraphPtr graph, tracer.trace(root));
    return keeping(root, std::move(graph));
}

Traced archiveWithControlFlow(const Program& program, bool asWritten) {
    trace::RobustTracer tracer;
    tracer.setRecordsControlFlow(true);
    const auto root = scriptOf(program, asWritten);
    SONDE_ASSIGN(GraphPtr graph, tracer.traceRepeatedly(root));
    return keeping(root, std::move(graph));
}

Traced archiveRecorded(const Program& program) { return archiveWithControlFlow(program, false); }
Traced archiveAsWritten(const Program& program) { return archiveWithControlFlow(program, true); }

Traced archiveByRobust(const Program& program) {
    trace::RobustTracer tracer;
    const auto root = scriptOf(program);
    GraphPtr graph = tracer.traceRobust(root);
    if (const std::string* failure = tracer.failureMessage(*root)) return base::runError(*failure);
    return keeping(root, std::move(graph));
}

Traced archiveByTracedModule(const Program& program) {
    const auto root = scriptOf(program);
    SONDE_ASSIGN(auto module, trace::traceModule(root, valuesOf(inputsFor(program, program.seed))));
    SONDE_ASSIGN(auto inlined, trace::inlineTracedModule(module));
    return keeping(root, std::move(inlined.graph));
}

Traced archiveByCustom(const Program& program) {
    // The writes of an archive have become values already.
    trace::CustomTracerOptions options;
    options.purify = [](const InternalGraph& recorded, bool) {
        return base::Result<std::shared_ptr<InternalGraph>>(std::make_shared<InternalGraph>(recorded));
    };
    trace::CustomTracer tracer(std::move(options));
    tracer.setRecordsControlFlow(true);
    const auto root = scriptOf(program);
    SONDE_ASSIGN(GraphPtr graph, tracer.trace(root));
    return keeping(root, std::move(graph));
}

/// With the cleanup that the tracer has for modules of C++.
Traced archiveByCustomCleaned(const Program& program) {
    trace::CustomTracer tracer;
    tracer.setRecordsControlFlow(true);
    const auto root = scriptOf(program);
    SONDE_ASSIGN(GraphPtr graph, tracer.trace(root));
    return keeping(root, std::move(graph));
}

Results runGraph(const GraphPtr& graph, const std::vector<Array>& inputs, bool watchAll = false) {
    SONDE_ASSIGN(const auto plan, exec::Plan::make(graph, {.watchAll = watchAll}));
    static exec::Runner runner(1);
    const exec::Recording recording = runner.run(*plan, valuesOf(inputs));
    if (recording.error) return *recording.error;
    return resultsOf(recording.outputs);
}

Results runEagerly(trace::Module& module, const std::vector<Array>& inputs) {
    std::vector<Var> arguments;
    for (Value& value : valuesOf(inputs)) arguments.emplace_back(std::move(value));
    try {
        const Value result = module.call(arguments, {}).toValue();
        return resultsOf(result.isListLike() ? result.items() : std::vector<Value>{result});
    } catch (const std::exception& error) {
        return base::runError(error.what());
    }
}

Traced afterPass(const GraphPtr& graph, const std::string& pass) {
    passes::PassContext context;
    context.evaluate = document::passEvaluator();
    const std::vector<std::string> ids{pass};
    SONDE_ASSIGN(auto made, passes::runPasses(*graph, ids, context));
    return GraphPtr(std::move(made.graph));
}

Traced withoutWrites(const GraphPtr& graph) {
    auto copy = std::make_shared<InternalGraph>(*graph);
    SONDE_TRY(passes::removeInplace(*copy));
    SONDE_TRY(copy->validate());
    return GraphPtr(std::move(copy));
}

enum class Verdict { Right, Refused, Wrong };

struct Outcome {
    Verdict verdict = Verdict::Right;
    std::string told;
};

/// What PyTorch gives; nothing: it raises.
using Expected = std::optional<std::vector<Result>>;

Outcome judged(const Results& got, const Expected& expected, const std::string& how) {
    if (!got) return {Verdict::Refused, got.error().text()};
    if (expected && agree(*got, *expected)) return {};
    return {Verdict::Wrong,
            how + "\n  expected " + (expected ? text(*expected) : "an error") + "\n  got      " + text(*got)};
}

/// A way to run programs: a tracer, with all passes on what it gives; or no tracer.
struct Way {
    const char* name;
    int mostRefusals;  ///< in percent
    Traced (*trace)(const Program& program) = nullptr;
    bool recordsWrites =
        false;  ///< the graph has its writes still: what cannot be run as it is must be right after remove-inplace
    bool isArchive = false;
    bool isShared = false;  ///< programs with more memory that is shared
};

const Way kWays[] = {
    {"eager", 2},
    {"module-path", 65, byModulePath},
    {"robust", 65, byRobust},
    {"traced-module", 20, byTracedModule},
    {"custom", 40, byCustom},
    {"custom as recorded", 40, byCustomAsRecorded, true},
    {"eager, shared", 5, nullptr, false, false, true},
    {"robust, shared", 70, byRobust, false, false, true},
    {"traced-module, shared", 30, byTracedModule, false, false, true},
    {"custom, shared", 50, byCustom, false, false, true},
    {"archive eager", 25, nullptr, false, true, true},
    {"archive module-path", 65, archiveByModulePath, false, true, true},
    {"archive", 65, archiveRecorded, false, true, true},
    {"archive as written", 65, archiveAsWritten, false, true, true},
    {"archive robust", 65, archiveByRobust, false, true, true},
    {"archive traced-module", 30, archiveByTracedModule, false, true, true},
    {"archive custom", 65, archiveByCustom, false, true, true},
    {"archive custom, cleaned", 65, archiveByCustomCleaned, false, true, true},
};

/// The same graph before and after each pass that keeps values. A pass must not fail, nor make a graph give values that
/// did not.
Outcome judgePasses(const Way& way, const GraphPtr& graph, const std::vector<Array>& inputs, const Expected& expected,
                    bool mayRefuse) {
    for (const passes::Pass& pass : passes::passes()) {
        const std::string id(pass.id);
        if (way.recordsWrites && id == "remove-inplace") continue;
        const Traced changed = afterPass(graph, id);
        if (!changed) {
            if (id == "remove-inplace" || mayRefuse) continue;  // it may refuse
            return {Verdict::Wrong, "pass " + id + " fails: " + changed.error().text()};
        }
        GraphPtr runnable = *changed;
        if (way.recordsWrites) {
            const Traced pure = withoutWrites(*changed);
            if (!pure) continue;
            runnable = *pure;
        }
        const Outcome outcome = judged(runGraph(runnable, inputs), expected,
                                       "after pass " + id + "\n" + printed(*graph) + "becomes\n" + printed(**changed));
        if (outcome.verdict == Verdict::Wrong) return outcome;
        if (outcome.verdict == Verdict::Refused && !mayRefuse)
            return {Verdict::Wrong, "after pass " + id + " it cannot be run: " + outcome.told};
    }
    return {};
}

Outcome judgeGraph(const Way& way, const Program& program, const GraphPtr& traced, const Expected& expected) {
    const auto arrays = [&] { return inputsFor(program, program.seed); };
    if (way.recordsWrites) {
        const Traced pure = withoutWrites(traced);
        if (!pure) return {Verdict::Refused, pure.error().text()};
        const Outcome outcome = judged(runGraph(*pure, arrays()), expected,
                                       "with its writes removed\n" + printed(*traced) + "becomes\n" + printed(**pure));
        if (outcome.verdict == Verdict::Wrong) return outcome;
        const Outcome passed = judgePasses(way, traced, arrays(), expected, outcome.verdict == Verdict::Refused);
        if (passed.verdict != Verdict::Right || outcome.verdict == Verdict::Refused)
            return passed.verdict == Verdict::Wrong ? passed : outcome;
    }
    const Outcome plain = judged(runGraph(traced, arrays()), expected, "plain\n" + printed(*traced));
    if (way.recordsWrites && plain.verdict == Verdict::Refused)
        return {};  // plans refuse writes that they would not see
    if (plain.verdict == Verdict::Wrong) return plain;
    const bool isRefused = plain.verdict == Verdict::Refused;
    const Outcome watched = judged(runGraph(traced, arrays(), true), expected, "with everything watched");
    if (watched.verdict != plain.verdict) return {Verdict::Wrong, "with everything watched: " + watched.told};
    if (!way.recordsWrites) {
        const Outcome passed = judgePasses(way, traced, arrays(), expected, isRefused);
        if (passed.verdict == Verdict::Wrong) return passed;
    }
    return plain;
}

Outcome judge(const Way& way, const Program& program) {
    const trace::EvaluatorScope scope(document::kernelEvaluator());
    const auto arrays = [&] { return inputsFor(program, program.seed); };
    const Expected expected = program.raises ? Expected() : Expected(resultsOf(Interpreter::run(program, arrays())));
    Outcome outcome;
    if (!way.trace) {
        const std::shared_ptr<trace::Module> module =
            way.isArchive ? std::shared_ptr<trace::Module>(scriptOf(program)) : moduleOf(program);
        outcome = judged(runEagerly(*module, arrays()), expected, "");
    } else {
        const Traced traced = way.trace(program);
        if (!traced) outcome = {Verdict::Refused, traced.error().text()};
        else if (auto valid = (*traced)->validate(); !valid) return {Verdict::Wrong, valid.error().text()};
        else outcome = judgeGraph(way, program, *traced, expected);
    }
    // To refuse what PyTorch raises at is right.
    if (program.raises && outcome.verdict == Verdict::Refused) return {};
    return outcome;
}

int numberFrom(const char* variable, int otherwise) {
    bool isNumber = false;
    const int number = qEnvironmentVariable(variable).toInt(&isNumber);
    return isNumber ? number : otherwise;
}

}  // namespace

class TestInplacePrograms : public QObject {
    Q_OBJECT

  private slots:
    void everyWayIsRightOrRefuses_data() {
        QTest::addColumn<int>("way");
        const QString only = qEnvironmentVariable("SONDE_RANDOM_MODE");
        for (int i = 0; i < static_cast<int>(std::size(kWays)); ++i) {
            if (only.isEmpty() || only == QLatin1String(kWays[i].name)) QTest::newRow(kWays[i].name) << i;
        }
    }

    void everyWayIsRightOrRefuses() {
        QFETCH(int, way);
        const Way& chosen = kWays[way];
        const int count = numberFrom("SONDE_RANDOM_PROGRAMS", 300), first = numberFrom("SONDE_RANDOM_SEED", 1);
        int right = 0, refused = 0, wrong = 0;
        QStringList reports;
        QString seeds;
        std::map<std::string, int> refusals;
        for (int seed = first; seed < first + count; ++seed) {
            const Program program = Generator::make(static_cast<std::uint64_t>(seed), chosen.isShared);
            const Outcome outcome = judge(chosen, program);
            if (outcome.verdict == Verdict::Right) ++right;
            if (outcome.verdict == Verdict::Refused) {
                ++refused;
                ++refusals[outcome.told.substr(outcome.told.find(") ") + 1, 90)];
            }
            if (outcome.verdict != Verdict::Wrong) continue;
            seeds += QString(" %1").arg(seed);
            if (++wrong > 3) continue;
            const Program small =
                shrunk(program, [&](const Program& each) { return judge(chosen, each).verdict == Verdict::Wrong; });
            reports << QString::fromStdString(test::programs::text(small) + judge(chosen, small).told);
        }
        qInfo("%s: %d right, %d refused, %d wrong%s", chosen.name, right, refused, wrong, qPrintable(seeds));
        if (qEnvironmentVariableIsSet("SONDE_RANDOM_REFUSALS")) {
            if (count == 1)
                qInfo(
                    "%s",
                    test::programs::text(Generator::make(static_cast<std::uint64_t>(first), chosen.isShared)).c_str());
            for (const auto& [what, times] : refusals) qInfo("  %d × %s", times, what.c_str());
        }
        for (const QString& report : reports) qWarning("%s", qPrintable(report));
        QVERIFY2(wrong == 0, "the programs above, by their seeds");
        QVERIFY2(refused * 100 <= count * chosen.mostRefusals,
                 qPrintable(QString("%1 of %2 refused").arg(refused).arg(count)));
    }
};

QTEST_GUILESS_MAIN(TestInplacePrograms)

}  // namespace tst_inplace_programs

#include "tst_inplace_programs.moc"
