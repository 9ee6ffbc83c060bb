// Inferred types against the values of real runs: every built-in model and every archive among the reference models, by
// all tracers.

#include <QDir>
#include <QtTest>

#include <cstdio>

#include "core/document/tracers.h"
#include "core/io/inputs/inputs.h"
#include "core/zoo/zoo.h"
#include "tests/support/inferred.h"
#include "tests/support/reference_sets.h"

namespace tst_infer_traced {

using namespace sonde;
using tensor::Value;
using test::Coverage;

namespace {

/// Models of more weights are run by the usual tracer alone.
constexpr std::string_view kLarge[] = {"vgg11", "vit_b_16", "gpt2",     "bert_base",
                                       "unet",  "resnet50", "resnet34", "densenet121"};

/// What a tracer cannot take, and a part of what it says then. Everything else has to open.
struct Refusal {
    std::string_view model;   ///< of the file's name, or zoo:NAME
    std::string_view tracer;  ///< "*": any
    std::string_view why;
};
// clang-format off
constexpr std::string_view kBranches = "symbolically traced variables cannot be used as inputs to control flow",
                           kInteger = "'Proxy' object cannot be interpreted as an integer",
                           kIterated = "Proxy object cannot be iterated",
                           kAssigned = "'Proxy' object does not support item assignment";
constexpr Refusal kRefused[] = {
    {"mlp_functional.legacy.pt",  "*",             "it has values, but no program"},
    {"mlp_functional.state_dict.pt", "*",          "it has weights, but no program"},
    {"control_flow.script.pt",    "module-path",   kBranches},
    {"robust_nested.script.pt",   "module-path",   kInteger},
    {"script_features.script.pt", "module-path",   kBranches},
    {"script_features.script.pt", "traced-module", "only tensors can be results of a traced module"},
    {"unet_small.frozen.pt",      "module-path",   kInteger},
    {"zoo:control_flow",          "module-path",   kBranches},
    {"zoo:control_flow",          "custom",        kBranches},
    {"zoo:robust_nested",         "module-path",   kInteger},
    {"zoo:robust_nested",         "custom",        kInteger},
    {"zoo:flag",                  "module-path",   kBranches},
    {"zoo:flag",                  "custom",        kBranches},
    {"zoo:iterating",             "module-path",   kIterated},
    {"zoo:iterating",             "custom",        kIterated},
    {"zoo:branching",             "module-path",   kBranches},
    {"zoo:branching",             "custom",        kBranches},
    {"zoo:item_assignment",       "module-path",   kAssigned},
    {"zoo:slice_assignment",      "module-path",   kAssigned},
    {"zoo:mask_assignment",       "module-path",   kAssigned},
    {"zoo:conditional",           "module-path",   kBranches},
};
// clang-format on

const Refusal* refusalOf(const QString& model, std::string_view tracer) {
    const std::string name = model.section('/', -1).toStdString();
    const auto* found = std::ranges::find_if(kRefused, [&](const Refusal& refusal) {
        return refusal.model == name && (refusal.tracer == "*" || refusal.tracer == tracer);
    });
    return found == std::end(kRefused) ? nullptr : found;
}

void printCounts(const QString& name, const Coverage& coverage) {
    std::printf(
        "%-44s %5zu of %5zu values known, %5zu tensors, %5zu with all dimensions, %5zu as numbers with inputs, %zu wrong\n",
        qPrintable(name), coverage.known, coverage.values, coverage.tensors, coverage.shapes, coverage.fixed,
        coverage.wrong);
}

std::vector<Value> exampleInputs(const document::Document& document) {
    std::vector<io::InputInfo> infos;
    std::vector<Value> inputs(document.graph->inputs().size());
    for (const document::NamedNode& input : document.inputs)
        infos.push_back({input.name, document.graph->node(input.node).type});
    const auto cases = io::makeInputs("", infos);
    if (!cases) return inputs;
    for (std::size_t k = 0; k < document.inputs.size(); ++k) {
        for (std::size_t i = 0; i < inputs.size(); ++i) {
            if (document.graph->inputs()[i] == document.inputs[k].node) inputs[i] = cases->front().values[k];
        }
    }
    return inputs;
}

/// One model by one tracer: what is wrong goes to `problems`. Models that the tracer refuses, by the table, have
/// nothing.
Coverage checked(const QString& model, const document::OpenOptions& options, const QString& reference,
                 QStringList& problems) {
    const QString what = model + " by " + QString::fromStdString(options.tracer.empty() ? "default" : options.tracer);
    const Refusal* const refusal = refusalOf(model, options.tracer);
    const auto document = document::open(model.toStdString(), options);
    if (!document) {
        const std::string text = document.error().text();
        if (!refusal || text.find(refusal->why) == std::string::npos)
            problems << what + " does not open: " + QString::fromStdString(text);
        return {};
    }
    if (refusal || !(*document)->graph) {
        problems << what + (refusal ? " opens, which the table excludes" : " has no graph");
        return {};
    }
    const std::vector<Value> inputs =
        reference.isEmpty() ? exampleInputs(**document) : test::npzInputs(**document, reference, "");
    QStringList found;
    const Coverage coverage = test::compared(**document, inputs, found);
    if (coverage.values == 0) found << "no values";
    for (const QString& problem : found) problems << what + ": " + problem;
    return coverage;
}

void printTotal(const Coverage& total) {
    printCounts("all", total);
    std::vector<std::pair<std::size_t, std::string>> worst;
    for (const auto& [op, count] : total.unknownOf) worst.emplace_back(count, op);
    std::ranges::sort(worst, std::greater());
    for (const auto& [count, op] : worst) std::printf("  %5zu not known of %s\n", count, op.c_str());
}

}  // namespace

class TestInferTraced : public QObject {
    Q_OBJECT

  private slots:
    void builtInModels() {
        QStringList problems;
        Coverage total;
        const QByteArray only = qgetenv("SONDE_ONLY");
        for (const zoo::ModelEntry& entry : zoo::models()) {
            if (!only.isEmpty() && entry.name.find(only.toStdString()) == std::string_view::npos) continue;
            for (const document::TracerInfo& tracer : document::tracers()) {
                if (!tracer.id.empty() && std::ranges::find(kLarge, entry.name) != std::end(kLarge)) continue;
                const QString model =
                    "zoo:" + QString::fromUtf8(entry.name.data(), static_cast<qsizetype>(entry.name.size()));
                document::OpenOptions options;
                options.tracer = tracer.id;
                const Coverage coverage = checked(model, options, {}, problems);
                if (coverage.values == 0) continue;
                printCounts(model + " " + QString::fromStdString(options.tracer), coverage);
                total.add(coverage);
            }
        }
        printTotal(total);
        QVERIFY2(problems.isEmpty(), qPrintable(problems.mid(0, 40).join('\n')));
    }

    void archives() {
        QStringList problems;
        Coverage total;
        const QByteArray only = qgetenv("SONDE_ONLY");
        const QDir folder(test::referenceModels());
        for (const QString& file : folder.entryList({"*.pt"})) {
            if (!file.contains(only)) continue;
            for (const document::TracerInfo& tracer : document::tracers()) {
                document::OpenOptions options;
                options.tracer = tracer.id;
                const QString reference = folder.filePath(file.section('.', 0, 0) + ".npz");
                // Archives do not say what sizes their inputs have, and this tracer runs them.
                if (tracer.id == "traced-module") options.inputData = reference.toStdString();
                const Coverage coverage = checked(folder.filePath(file), options, reference, problems);
                if (coverage.values == 0) continue;
                printCounts(file + " " + QString::fromStdString(options.tracer), coverage);
                total.add(coverage);
            }
        }
        printTotal(total);
        QVERIFY2(problems.isEmpty(), qPrintable(problems.mid(0, 40).join('\n')));
        if (only.isEmpty()) QVERIFY(total.fixed * 100 >= total.tensors * 99);
    }
};

QTEST_GUILESS_MAIN(TestInferTraced)

}  // namespace tst_infer_traced

#include "tst_infer_traced.moc"
