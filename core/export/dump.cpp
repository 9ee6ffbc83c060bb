#include "core/export/dump.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <map>
#include <span>

#include "core/analysis/infer.h"
#include "core/base/text_file.h"
#include "core/base/unicode.h"
#include "core/document/input_infos.h"
#include "core/document/trace_options.h"
#include "core/exec/runner.h"
#include "core/export/dump_outputs.h"
#include "core/export/inference/export_passes.h"
#include "core/export/inference/inference_form.h"
#include "core/export/lowering/dropped_checks.h"
#include "core/graph/missing_data.h"
#include "core/graph/source_files.h"
#include "core/io/dump/input_transform.h"
#include "core/io/inputs/agreement.h"
#include "core/io/npz/npy.h"
#include "core/ops/registry/registry.h"
#include "core/passes/vocabulary.h"

namespace sonde::exporting {

namespace {

using graph::Argument;
using graph::Expr;
using graph::ExprId;
using graph::ExprKind;
using graph::InternalGraph;
using graph::NodeId;
using tensor::Value;

/// "ADD" of aten::add.Tensor, "FC" of a called module fc.
std::string operatorName(const Expr& expr) {
    return base::upperCase(expr.op.name.empty() ? expr.target.substr(expr.target.rfind('.') + 1)
                                                : expr.op.name.substr(0, expr.op.name.find('.')));
}

/// Equal names get numbers: name[0], name[1].
void makeUnique(std::vector<std::string>& names) {
    const std::vector<std::string> before = names;
    for (std::size_t i = 0; i < names.size(); ++i) {
        if (std::ranges::count(before, before[i]) < 2) continue;
        names[i] +=
            '[' +
            std::to_string(std::count(before.begin(), before.begin() + static_cast<std::ptrdiff_t>(i), before[i])) +
            ']';
    }
}

base::Result<std::vector<std::string>> outputNames(const InternalGraph& graph, const DumpOptions& options) {
    const std::size_t count = graph.outputs().size();
    if (count == 0) return base::usageError("Can't dump empty graph: the model returns no value");
    const Argument& result = graph.main().result;
    if (result.kind == Argument::Kind::Dict) {
        if (!options.outputNames.empty())
            return base::usageError("TypeError: the outputs are a dict and have names already", "--output-names");
    }
    if (!options.outputNames.empty()) {
        if (options.outputNames.size() != count)
            return base::usageError("wrong number of output_names, should be " + std::to_string(count) + " values",
                                    "--output-names");
        return options.outputNames;
    }
    std::vector<std::string> names;
    for (std::size_t i = 0; i < count; ++i) {
        const bool isKey = result.kind == Argument::Kind::Dict && result.items.size() == count &&
                           result.keys[i].kind() == tensor::ValueKind::String;
        if (isKey) names.push_back(result.keys[i].toString());
        else if (options.keepVarName == 0) names.push_back("unnamed" + std::to_string(i));
        else names.push_back(operatorName(graph.expr(graph.node(graph.outputs()[i]).producer)));
    }
    makeUnique(names);
    return names;
}

/// A node that is called `name` gets another name.
base::Result<void> giveWay(InternalGraph& graph, NodeId node, const std::string& name) {
    std::string free = name + "_0";
    for (int i = 1; graph.findNode(free).valid(); ++i) free = name + '_' + std::to_string(i);
    return graph.rename(node, free);
}

/// A node gets a name; who had it gives way.
base::Result<void> rename(InternalGraph& graph, NodeId node, const std::string& name) {
    if (const NodeId other = graph.findNode(name); other.valid() && other != node)
        SONDE_TRY(giveWay(graph, other, name));
    return graph.rename(node, name);
}

/// A value that a test case was given, transformed and then converted to what the input expects.
base::Result<Value> transformedInput(const std::string& expression, const Value& given, const io::InputInfo& input) {
    if (!given.isTensor()) return given;
    SONDE_ASSIGN(tensor::Tensor changed, io::dump::transformed(expression, given.tensor()));
    // As numpy's astype: integers wrap.
    const bool isWrapped = input.type.isTensor() && tensor::isInteger(changed.dtype()) &&
                           tensor::isInteger(input.type.dtype) && changed.dtype() != input.type.dtype;
    if (isWrapped) {
        SONDE_ASSIGN(changed, changed.cast(input.type.dtype));
    }
    return io::fitted(std::move(changed), input, "--input-transform");
}

/// A test case, or the lines of a list of them.
std::string textOf(const std::string& spec) {
    if (!spec.starts_with('@')) return spec;
    return base::readText(spec.substr(1), "the list").value_or(std::string());
}

/// The first array file of a test case or a list of them; empty: there is none.
std::string arrayFileIn(const std::string& text, const std::vector<io::InputInfo>& inputs) {
    for (std::size_t start = 0; start < text.size();) {
        const std::size_t end = std::min(text.find_first_of(";\r\n", start), text.size());
        std::string item = text.substr(start, end - start);
        start = end + 1;
        for (const io::InputInfo& input : inputs) {
            if (!item.starts_with(input.name + ':')) continue;
            item.erase(0, input.name.size() + 1);
            break;
        }
        const io::ItemKind kind = io::kindOfItem(item);
        if (kind == io::ItemKind::Archive) return item;
        if (kind != io::ItemKind::File) continue;
        std::error_code ignored;
        if (!std::filesystem::is_regular_file(item, ignored)) continue;
        std::array<char, 16> head{};
        std::ifstream(item, std::ios::binary).read(head.data(), head.size());
        if (io::looksLikeNpy(std::as_bytes(std::span(head)))) return item;
    }
    return {};
}

/// What can be neither resized nor transformed.
base::Result<void> checkChanges(const std::string& spec, const std::vector<io::InputInfo>& inputs,
                                const DumpOptions& options) {
    if (!options.resizeInput && options.inputTransform.empty()) return {};
    const std::string text = textOf(spec);
    if (text.find("#rand") != std::string::npos) {
        return base::usageError("random numbers cannot be resized or transformed", spec,
                                "leave out --resize-input and --input-transform, or use files");
    }
    if (!options.resizeInput) return {};
    const std::string array = arrayFileIn(text, inputs);
    if (array.empty()) return {};
    return base::usageError("only images can be resized, and this file is an array", array,
                            "leave out --resize-input, or use an image");
}

base::Result<std::vector<std::vector<Value>>> caseInputs(const Document& document,
                                                         const std::vector<std::string>& inputData,
                                                         const DumpOptions& options, const base::WorkContext& work) {
    const std::vector<io::InputInfo> infos = document::inputInfos(document);
    const bool isTransformed = !options.inputTransform.empty();
    std::vector<io::InputInfo> given = infos;
    for (io::InputInfo& info : given) {
        // A transform sees the data as it is in the file: 200 - 128 is a byte, 200 is none.
        if (!isTransformed || !info.type.isTensor()) continue;
        info.type.dtype = tensor::DType::Undefined;
        info.isGuide = true;  // of the rank, too: the expression may change it
        info.required.reset();
    }
    io::InputOptions how = options.input;
    how.hasDefault = document::defaultsOf(document);
    how.image.resize = options.resizeInput;
    std::vector<std::vector<Value>> cases;
    for (const std::string& spec : inputData) {
        SONDE_TRY(checkChanges(spec, infos, options));
        SONDE_ASSIGN(auto made, io::makeInputs(spec, given, io::ofCase(how, cases.size()), work));
        for (io::InputCase& each : made) {
            for (std::size_t i = 0; isTransformed && i < each.values.size(); ++i) {
                SONDE_ASSIGN(each.values[i], transformedInput(options.inputTransform, each.values[i], infos[i]));
            }
            cases.push_back(std::move(each.values));
        }
    }
    return cases;
}

/// Data of other sizes than those of the input, behind the first dimension: the model may take it or not. A note for
/// each input, of the first such case.
base::Diagnostics otherSizes(const Document& document, const std::vector<std::vector<Value>>& cases) {
    base::Diagnostics notes;
    for (std::size_t i = 0; i < document.inputs.size(); ++i) {
        const tensor::TypeInfo& type = document.graph->node(document.inputs[i].node).type;
        if (!type.shape) continue;
        const auto differs = [&](const std::vector<Value>& values) {
            if (!values[i].isTensor() || values[i].tensor().rank() != type.shape->size()) return false;
            for (std::size_t axis = 1; axis < type.shape->size(); ++axis) {
                const tensor::Dim& dim = (*type.shape)[axis];
                if (dim.known() && dim.value != values[i].tensor().dim(axis)) return true;
            }
            return false;
        };
        const auto found = std::ranges::find_if(cases, differs);
        if (found == cases.end()) continue;
        notes.push_back({base::Severity::Warning,
                         "the data is " + (*found)[i].tensor().typeText() + ", the input " + type.text(),
                         "case " + std::to_string(found - cases.begin()) + ", input '" + document.inputs[i].name + '\'',
                         "--resize-input resizes images"});
    }
    return notes;
}

/// "input 'arg_0' is float32[2,8], and the first test case has fixed its sizes: float32[1,8]", of the first input of
/// other sizes; empty if there is none.
std::string otherThanFirst(const std::vector<Value>& first, const std::vector<Value>& values,
                           const std::vector<std::string>& argNames) {
    for (std::size_t i = 0; i < values.size() && i < first.size() && i < argNames.size(); ++i) {
        if (!first[i].isTensor() || !values[i].isTensor() || first[i].tensor().shape() == values[i].tensor().shape())
            continue;
        return "input '" + argNames[i] + "' is " + values[i].typeText() +
               ", and the first test case has fixed its sizes: " + first[i].typeText();
    }
    return {};
}

/// `isStatic`: the graph was written for the sizes of the first case.
base::Result<void> addCases(io::dump::DumpFile& dump, const std::shared_ptr<InternalGraph>& graph,
                            const std::vector<std::string>& argNames, std::vector<std::vector<Value>> inputs,
                            const Document& document, const DumpOptions& options, bool isStatic,
                            const base::WorkContext& work) {
    SONDE_ASSIGN(const auto plan, exec::Plan::make(graph, {}));
    exec::Runner runner(0);
    for (const std::vector<Value>& values : inputs) {
        io::dump::TestCase test;
        std::vector<Value> all(graph->inputs().size());
        for (std::size_t i = 0; i < values.size(); ++i) {
            const auto at = static_cast<std::size_t>(std::ranges::find(graph->inputs(), document.inputs[i].node) -
                                                     graph->inputs().begin());
            if (!values[i].isTensor())
                return base::usageError("an input that is not a tensor cannot be dumped", argNames[i]);
            all[at] = values[i];
            test.emplace_back(argNames[i], values[i].tensor());
        }
        if (!options.noAssert) {
            const exec::Recording recording = runner.run(*plan, all, work);
            if (recording.error) {
                const std::string which = "test case " + std::to_string(dump.cases.size());
                const std::string other = isStatic ? otherThanFirst(inputs.front(), values, argNames) : std::string();
                if (!other.empty())
                    return base::usageError(
                               other, which,
                               "layouts, float16 and fusions write a model for the sizes of its first test "
                               "case: give all of them the same, or write a file for each")
                        .withNote(recording.error->text());
                return base::Error(*recording.error).withNote("while computing the expected values of " + which);
            }
            for (std::size_t i = 0; i < recording.outputs.size(); ++i) {
                if (!recording.outputs[i].isTensor())
                    return base::usageError("an output that is not a tensor cannot be an expected value",
                                            dump.outputNames[i]);
                test.emplace_back(dump.outputNames[i] + ":expect", recording.outputs[i].tensor());
            }
        }
        dump.cases.push_back(std::move(test));
    }
    return {};
}

/// A batch norm that takes the statistics of its input and keeps them.
bool trains(const InternalGraph& graph, const Expr& expr) {
    if (passes::familyOf(expr) == passes::Family::Onnx) return expr.attributes.getInt("training_mode", 0) != 0;
    const auto known = passes::tensorOf(graph, passes::argumentOf(expr, 3, "running_mean"));
    return known && passes::boolOf(graph, passes::argumentOf(expr, 5, "training"), false);
}

/// What can never be dumped, and is known before anything is done.
base::Result<void> checkModel(const Document& document) {
    for (const document::NamedNode& input : document.inputs) {
        const auto& kind = document.graph->node(input.node).type.kind;
        if (kind && *kind != tensor::ValueKind::Tensor) {
            return base::usageError("Only support tensor type args when capture_as_const is enabled", input.name,
                                    "fix its value when the model is traced (--concrete " + input.name + "=VALUE)");
        }
    }
    for (const ExprId id : document.graph->recursiveOrder(document.graph->mainId())) {
        const Expr& expr = document.graph->expr(id);
        if (passes::opClassOf(expr) != passes::OpClass::BatchNorm || !trains(*document.graph, expr)) continue;
        return base::usageError("can not dump BatchNorm in training mode, call eval() on the model before",
                                document.graph->node(expr.outputs.front()).name);
    }
    return {};
}

/// The names of the inputs, given to their nodes.
base::Result<std::vector<std::string>> nameInputs(InternalGraph& graph, const Document& document,
                                                  const DumpOptions& options) {
    std::vector<std::string> names = options.argNames;
    if (names.empty()) {
        for (std::size_t i = 0; i < document.inputs.size(); ++i) names.push_back("arg_" + std::to_string(i));
    }
    if (names.size() != document.inputs.size()) {
        return base::usageError(
            "wrong number of arg_names, should be " + std::to_string(document.inputs.size()) + " values",
            "--arg-names");
    }
    for (std::size_t i = 0; i < names.size(); ++i)
        if (!names[i].empty()) SONDE_TRY(rename(graph, document.inputs[i].node, names[i]));
    for (std::size_t i = 0; i < names.size(); ++i)
        if (names[i].empty()) names[i] = graph.node(document.inputs[i].node).name;
    return names;
}

/// Test cases and readers know inputs, their expected values and outputs by name. An input that is returned as it is
/// may have one name for both.
base::Result<void> checkNames(const InternalGraph& graph, const Document& document,
                              const std::vector<std::string>& argNames, const std::vector<std::string>& outputNames,
                              bool hasChecks) {
    std::map<std::string, std::string> known;
    const auto add = [&known](const std::string& name, const std::string& what) -> base::Result<void> {
        const auto [other, isNew] = known.try_emplace(name, what);
        if (isNew) return {};
        return base::usageError(other->second == what ? "two are called '" + name + "', each " + what
                                                      : other->second + " and " + what + " are called '" + name + "'",
                                {}, "give other names with --arg-names or --output-names");
    };
    for (const std::string& name : argNames) SONDE_TRY(add(name, "an input"));
    for (std::size_t i = 0; i < outputNames.size(); ++i) {
        const auto same = std::ranges::find(argNames, outputNames[i]) - argNames.begin();
        const auto at = static_cast<std::size_t>(same);
        const bool isThatInput = at < argNames.size() && document.inputs[at].node == graph.outputs()[i];
        if (!isThatInput) SONDE_TRY(add(outputNames[i], "an output"));
        if (hasChecks) SONDE_TRY(add(outputNames[i] + ":expect", "an expected value"));
    }
    return {};
}

base::Result<void> nameOutputs(InternalGraph& graph, const std::vector<std::string>& names) {
    for (std::size_t i = 0; i < graph.outputs().size(); ++i) {
        const NodeId output = graph.outputs()[i];
        const bool isInput = graph.expr(graph.node(output).producer).kind == ExprKind::Input;
        if (!isInput && std::ranges::count(graph.outputs(), output) == 1) SONDE_TRY(rename(graph, output, names[i]));
    }
    return {};
}

/// Values that the model is run on to write it in static form: those of the first test case, or numbers of the usual
/// shape.
base::Result<std::vector<Value>> exampleInputs(const Document& document, const std::vector<std::vector<Value>>& cases,
                                               const DumpOptions& options, const base::WorkContext& work) {
    if (!cases.empty()) return cases.front();
    if (!options.example.empty()) return options.example;
    SONDE_ASSIGN(const auto made, io::makeInputs("", document::inputInfos(document), options.input, work));
    return made.front().values;
}

/// Scalar inputs are stored with one dimension.
void storeScalars(InternalGraph& graph, const Document& document, std::vector<std::vector<Value>>& cases) {
    bool any = false;
    for (std::size_t i = 0; i < document.inputs.size(); ++i) {
        const tensor::TypeInfo& type = graph.node(document.inputs[i].node).type;
        if (!type.shape || !type.shape->empty()) continue;
        any = true;
        graph.setType(document.inputs[i].node, tensor::TypeInfo::tensor(type.dtype, tensor::Shape{1}));
        for (std::vector<Value>& values : cases) {
            if (values[i].isTensor() && values[i].tensor().rank() == 0)
                values[i] = Value(values[i].tensor().unsqueezed(0));
        }
    }
    if (!any) return;
    // What follows has other shapes than before.
    for (const ExprId id : graph.recursiveOrder(graph.mainId())) {
        if (graph.expr(id).kind == ExprKind::Input) continue;
        for (const NodeId node : graph.expr(id).outputs) {
            if (!graph.node(node).constant) graph.setType(node, tensor::TypeInfo());
        }
    }
    base::Diagnostics findings;
    analysis::inferTypes(graph, findings);
}

base::Result<void> checkFormat(const DumpOptions& options) {
    SONDE_ASSIGN(const io::dump::DumpFormat format, io::dump::dumpFormatFrom(options.format));
    SONDE_TRY(io::dump::checkModelVersion(format, options.modelVersion));
    if (options.compatOlderVersion.empty()) return {};
    if (options.compatOlderVersion != "8.14")
        return base::usageError("version " + options.compatOlderVersion + " has no form of its own",
                                "--compat-older-version", "8.14 is the only one");
    if (format != io::dump::DumpFormat::Fbs || options.noChangeGraph)
        return base::usageError("older versions read FBS whose graph may change", "--compat-older-version",
                                "add --dump-format FBS and leave out --no-change-graph");
    return {};
}

/// Readers of FBS know no ConvBias.
base::Result<void> toOldForms(InternalGraph& graph) {
    passes::Notes notes;
    passes::Rewrite rewrite(graph, notes);
    SONDE_ASSIGN(const std::size_t changed, unfuseConvBias(rewrite));
    if (changed == 0) return {};
    base::Diagnostics findings;
    analysis::inferTypes(graph, findings);  // of nodes that came in
    return {};
}

/// Other than what is done in any form.
bool isForm(const std::pair<std::string, std::size_t>& applied) { return applied.first != kFuseGrain; }

/// The inputs of operations that were written for their sizes; the note says which sizes, and what needs them.
base::Diagnostic fixSizes(InternalGraph& graph, const std::vector<std::string>& inputs, const AppliedOptions& applied) {
    std::string options, sizes;
    std::size_t count = 0;
    for (const auto& each : applied)
        if (isForm(each)) options += (count++ == 0 ? "" : ", ") + each.first;
    for (const std::string& name : inputs) {
        const NodeId node = graph.findNode(name);
        if (!node.valid()) continue;
        graph.mutableExpr(graph.node(node).producer)
            .attributes.set(std::string(io::dump::kFixedSizes), std::int64_t{1});
        sizes += (sizes.empty() ? "" : ", ") + name + ' ' + graph.node(node).type.text();
    }
    return {base::Severity::Warning,
            options + (count == 1 ? " fixes" : " fix") + " the sizes of inputs to those of the example: " + sizes,
            {},
            "give data of the sizes that are wanted (--input-data)"};
}

/// What was done to a graph that is from a dump was done to the new one, too. The user info is the new file's own.
base::Result<io::dump::Metadata> metadataOf(const Document& source, const DumpOptions& options,
                                            const AppliedOptions& applied) {
    io::dump::Metadata metadata;
    SONDE_ASSIGN(const document::TestCases before, document::readTestCases(source));
    if (before.metadata) metadata = *before.metadata;
    metadata.userInfo = options.userInfo;
    metadata.compatibleWith = options.compatOlderVersion;
    if (options.optimize) io::dump::addOptimisation(metadata, options.inference.bits(), applied);
    return metadata;
}

/// The level that was asked for; else that of the trace of a recorded function.
int optLevelOf(const Document& document, const DumpOptions& options) {
    if (options.optLevel != DumpOptions().optLevel) return options.optLevel;
    const auto traced = std::ranges::find(document.properties, document::kOptLevelProperty,
                                          &std::pair<std::string, std::string>::first);
    return traced == document.properties.end() || traced->second != "0" ? options.optLevel : 0;
}

/// `forms`: those of options.inference that are carried out.
base::Result<io::dump::DumpFile> dumpOf(const Document& given, const std::vector<std::string>& inputData,
                                        const DumpOptions& options, const io::dump::InferenceOptions& forms,
                                        const base::WorkContext& work) {
    const Document source = withDumpOutputs(given);
    SONDE_TRY(graph::checkComplete(source.graph));
    SONDE_TRY(checkModel(source));
    SONDE_TRY(checkOpaqueCalls(source, "a dump"));
    io::dump::DumpFile dump;
    SONDE_ASSIGN(dump.outputNames, outputNames(*source.graph, options));
    SONDE_ASSIGN(auto inputs, caseInputs(source, inputData, options, work));
    dump.notes = otherSizes(source, inputs);
    Document document = source;
    if (options.optimize && needsStaticForm(forms)) {
        SONDE_ASSIGN(const std::vector<Value> example, exampleInputs(source, inputs, options, work));
        SONDE_ASSIGN(document, staticForm(source, example, work));
        dump.notes.insert(dump.notes.end(),
                          document.diagnostics.begin() + static_cast<std::ptrdiff_t>(source.diagnostics.size()),
                          document.diagnostics.end());
        if (document.inputs.size() != source.inputs.size() ||
            document.graph->outputs().size() != dump.outputNames.size()) {
            return base::usageError("layouts, float16 and fusions are for models whose inputs and outputs are tensors",
                                    source.location);
        }
    }
    auto graph = std::make_shared<InternalGraph>(*document.graph);
    SONDE_ASSIGN(const std::vector<std::string> argNames, nameInputs(*graph, document, options));
    const bool hasChecks = !inputs.empty() && !options.noAssert;
    SONDE_TRY(checkNames(*graph, document, argNames, dump.outputNames, hasChecks));
    SONDE_TRY(nameOutputs(*graph, dump.outputNames));
    storeScalars(*graph, document, inputs);
    SONDE_TRY(
        addCases(dump, graph, argNames, std::move(inputs), document, options, document.graph != source.graph, work));
    if (hasChecks) {
        std::vector<CheckOptions> checks;
        for (const std::string& name : dump.outputNames) checks.push_back({name, options.maxError, options.silent});
        addChecks(*graph, checks);
    }
    AppliedOptions applied;
    if (options.optimize) {
        SONDE_ASSIGN(graph, optimisedForInference(*graph, forms, optLevelOf(given, options), work, &applied));
    }
    if (document.graph != source.graph) {
        // Nothing was gained by the sizes of the example: the model's own operations take any.
        if (std::ranges::none_of(applied, isForm))
            return dumpOf(given, inputData, options, withoutStaticForms(forms), work);
        if (!argNames.empty()) dump.notes.push_back(fixSizes(*graph, argNames, applied));
    }
    SONDE_ASSIGN(dump.format, io::dump::dumpFormatFrom(options.format));
    if (dump.format == io::dump::DumpFormat::Fbs && !options.noChangeGraph) SONDE_TRY(toOldForms(*graph));
    dump.graph = graph;
    if (options.metadata) {
        SONDE_ASSIGN(dump.metadata, metadataOf(given, options, applied));
    }
    dump.graph = graph::withFiles(dump.graph, graph::filesOf(source.graph));
    SONDE_TRY(graph::checkFiles(dump.graph));
    return dump;
}

}  // namespace

base::Result<io::dump::DumpFile> makeDump(const Document& document, const std::vector<std::string>& inputData,
                                          const DumpOptions& options, const base::WorkContext& work) {
    SONDE_TRY(checkFormat(options));
    return dumpOf(document, inputData, options, options.inference, work);
}

void addChecks(InternalGraph& graph, const std::vector<CheckOptions>& checks) {
    std::vector<Argument> errors;
    const std::vector<NodeId> outputs = graph.outputs();
    for (std::size_t i = 0; i < outputs.size(); ++i) {
        const std::string input = checks[i].name + ":expect";
        if (const NodeId other = graph.findNode(input); other.valid()) (void)giveWay(graph, other, input);
        const NodeId expected = graph.addInput(graph.mainId(), input, graph.node(outputs[i]).type, input);
        Expr check;
        check.kind = ExprKind::Apply;
        check.op = {"sonde", "AssertEqual", 1};
        check.target = "AssertEqual";
        check.arguments = {Argument::of(expected), Argument::of(outputs[i])};
        check.attributes.set("maxerr", checks[i].maxError);
        check.attributes.set("name", checks[i].name);
        if (checks[i].isSilent) check.attributes.set("verbose", std::int64_t{0});
        check.body = graph.mainId();
        check.scope = graph.rootScope();
        const std::string name = "AssertEqual_" + std::to_string(i);
        // The expr of kind Output stays the last one.
        const std::vector<ExprId>& order = graph.main().order;
        const bool endsInOutput = !order.empty() && graph.expr(order.back()).kind == ExprKind::Output;
        const ExprId id =
            graph.addExpr(std::move(check), std::span(&name, 1), endsInOutput ? order.size() - 1 : order.size());
        errors.push_back(Argument::of(graph.expr(id).outputs.front()));
    }
    const Argument result = Argument::container(Argument::Kind::Tuple, std::move(errors));
    if (const ExprId last = graph.main().order.back(); graph.expr(last).kind == ExprKind::Output)
        graph.setArguments(last, {result});
    graph.setResult(graph.mainId(), result);
}

void collectStripInfo(const InternalGraph& graph, std::set<std::string>& operators, std::set<std::string>& dtypes,
                      std::set<std::string>& modes) {
    for (const ExprId id : graph.recursiveOrder(graph.mainId())) {
        const Expr& expr = graph.expr(id);
        for (const NodeId node : expr.outputs) {
            const graph::Node& output = graph.node(node);
            const tensor::DType dtype =
                output.constant && output.constant->isTensor() ? output.constant->tensor().dtype() : output.type.dtype;
            if (dtype != tensor::DType::Undefined) dtypes.emplace(tensor::name(dtype));
        }
        if (expr.op.name.empty()) continue;
        operators.insert(expr.op.domain.empty() ? expr.op.name : expr.op.domain + "::" + expr.op.name);
        const ops::OpDef* row = ops::Registry::all().find(expr.op.domain, expr.op.name, expr.op.version);
        if (row && row->category == ops::Category::Elementwise) modes.insert(operatorName(expr));
    }
}

}  // namespace sonde::exporting
