// What every row of the operator table infers, against what its kernel gives: each node of each ONNX backend test case
// and of each reference model. Exceptions: tests/data/inference_exceptions.txt, which may only shrink.

#include <QDir>
#include <QDirIterator>
#include <QFile>
#include <QtTest>

#include <cstdio>
#include <map>
#include <set>

#include "core/document/document.h"
#include "core/exec/runner.h"
#include "core/io/npz/npz.h"
#include "core/io/onnx/value_file.h"
#include "tests/support/json_values.h"
#include "tests/support/reference_sets.h"

namespace tst_row_inference {

using namespace sonde;
using graph::Argument;
using tensor::TypeInfo;
using tensor::Value;

namespace {

constexpr std::int64_t kMaxConstant = 4096;  ///< as in core/analysis/infer.cpp

std::string nameOf(const ops::OpDef& op) {
    return (op.domain.empty() ? "ai.onnx" : std::string(op.domain)) + "::" + std::string(op.name);
}

/// Counts of an operator's outputs: all, and those whose dimensions were all inferred.
struct Counts {
    std::size_t outputs = 0, complete = 0, ranks = 0;
};

class Checker {
  public:
    std::map<std::string, Counts> counts;
    std::map<std::string, QString> wrong;  ///< operator → its first contradiction
    std::size_t calls = 0;

    void check(const document::Document& document, const std::vector<Value>& inputs) {
        const auto plan = exec::Plan::make(document.graph, {.watchAll = true});
        if (!plan) return;
        const exec::Recording recording = m_runner.run(**plan, inputs);
        for (std::size_t i = 0; i < document.graph->exprCount(); ++i) {
            if (!document.graph->isErased(graph::ExprId(i))) checkExpr(document, recording, graph::ExprId(i));
        }
    }

  private:
    /// The value that an argument had; false if it was not kept.
    static bool valueOf(const document::Document& document, const exec::Recording& recording, const Argument& argument,
                        Value& value) {
        switch (argument.kind) {
            case Argument::Kind::Omitted: value = Value(); return true;
            case Argument::Kind::Constant: value = argument.constant; return true;
            case Argument::Kind::Node: {
                const graph::Node& node = document.graph->node(argument.node);
                const Value* kept = node.constant                             ? &*node.constant
                                    : recording.iterations(argument.node) > 0 ? recording.value(argument.node, 0)
                                                                              : nullptr;
                if (kept) value = *kept;
                return kept != nullptr;
            }
            case Argument::Kind::List:
            case Argument::Kind::Tuple: {
                tensor::ValueList items;
                for (const Argument& item : argument.items) {
                    if (!valueOf(document, recording, item, items.emplace_back())) return false;
                }
                value = argument.kind == Argument::Kind::List ? Value::list(std::move(items))
                                                              : Value::tuple(std::move(items));
                return true;
            }
            default: return false;
        }
    }

    void checkExpr(const document::Document& document, const exec::Recording& recording, graph::ExprId id) {
        const graph::Expr& expr = document.graph->expr(id);
        const ops::OpDef* op = ops::Registry::all().find(expr.op.domain, expr.op.name, expr.op.version);
        if (!op || !op->infer || !op->kernel || !expr.bodies.empty() || recording.state(id) != exec::ExprState::Done)
            return;
        std::vector<Value> inputs;
        for (const Argument& argument : expr.arguments) {
            if (!valueOf(document, recording, argument, inputs.emplace_back())) return;
        }
        for (std::size_t i = inputs.size(); i < op->parameters.size(); ++i) {
            const auto given = std::ranges::find_if(
                expr.keywords, [&](const auto& keyword) { return keyword.first == op->parameters[i].name; });
            inputs.emplace_back(op->parameters[i].fallback.value_or(Value()));
            if (given != expr.keywords.end() && !valueOf(document, recording, given->second, inputs.back())) return;
        }
        ++calls;
        // All known; nothing but dtypes and ranks; nothing but dtypes.
        for (int known : {2, 1, 0}) compare(document, recording, expr, *op, inputs, known);
    }

    void compare(const document::Document& document, const exec::Recording& recording, const graph::Expr& expr,
                 const ops::OpDef& op, const std::vector<Value>& inputs, int known) {
        std::vector<TypeInfo> types;
        std::vector<Value> constants;
        for (const Value& input : inputs) {
            types.push_back(TypeInfo::of(input));
            if (known == 1 && types.back().shape)
                types.back().shape = std::vector<tensor::Dim>(types.back().shape->size());
            if (known == 0) types.back().shape.reset();
            const bool small = !input.isTensor() || input.tensor().numel() <= kMaxConstant;
            constants.push_back(small && (known == 2 || !input.isTensor()) ? input : Value());
        }
        const auto inferred = ops::infer(op, types, constants, expr.attributes, expr.outputs.size());
        const QString where = QString::fromStdString(
            document.title + ", node '" +
            (expr.outputs.empty() ? expr.name : document.graph->node(expr.outputs.front()).name) + "': ");
        if (!inferred) {
            wrong.emplace(nameOf(op), where + QString::fromStdString(inferred.error().text()));
            return;
        }
        for (std::size_t i = 0; i < expr.outputs.size(); ++i) {
            const Value* real =
                recording.iterations(expr.outputs[i]) > 0 ? recording.value(expr.outputs[i], 0) : nullptr;
            if (!real || real->isNone()) continue;
            const TypeInfo& type = inferred->types[i];
            if (const QString text = test::contradiction(type, *real); !text.isEmpty())
                wrong.emplace(nameOf(op), where + text);
            const Value& value = inferred->known[i];
            if (!value.isNone() && known == 2 &&
                (value.kind() != real->kind() || !test::difference(*real, value).isEmpty())) {
                wrong.emplace(nameOf(op), where + QString::fromStdString("its value is followed as " + value.text() +
                                                                         " but it is " + real->text()));
            }
            if (known != 2 || !real->isTensor()) continue;
            Counts& count = counts[nameOf(op)];
            ++count.outputs;
            count.ranks += type.shape && type.dtype != tensor::DType::Undefined;
            count.complete += type.shape && type.dtype != tensor::DType::Undefined &&
                              std::ranges::all_of(*type.shape, [](const tensor::Dim& dim) { return dim.known(); });
        }
    }

    exec::Runner m_runner{2};
};

std::vector<Value> caseInputs(const document::Document& document, const QString& folder) {
    std::vector<Value> values(document.graph->inputs().size());
    for (std::size_t i = 0; i < values.size(); ++i) {
        auto file = base::MappedFile::open(QString(folder + "/input_%1.pb").arg(i).toStdString());
        if (!file) continue;
        auto value = io::readOnnxValue(std::move(*file), document.graph->node(document.graph->inputs()[i]).type);
        if (value) values[i] = std::move(*value);
    }
    return values;
}

std::vector<Value> npzInputs(const document::Document& document, const QString& path) {
    std::vector<Value> inputs(document.graph->inputs().size());
    const auto npz = io::NpzFile::open(path.toStdString());
    for (const document::NamedNode& input : document.inputs) {
        if (!npz) break;
        const auto tensor = npz->read("in." + input.name);
        for (std::size_t i = 0; i < inputs.size(); ++i) {
            if (document.graph->inputs()[i] == input.node && tensor) inputs[i] = Value(*tensor);
        }
    }
    return inputs;
}

/// Operator and reason, one a line; '#' begins a comment.
std::map<std::string, QString> exceptions() {
    std::map<std::string, QString> all;
    QFile file(QStringLiteral(SONDE_TEST_DATA "/inference_exceptions.txt"));
    if (!file.open(QIODevice::ReadOnly)) return all;
    for (const QByteArray& line : file.readAll().split('\n')) {
        if (line.isEmpty() || line.startsWith('#')) continue;
        all.emplace(line.left(line.indexOf(' ')).toStdString(), QString::fromUtf8(line.mid(line.indexOf(' ') + 1)));
    }
    return all;
}

}  // namespace

class TestRowInference : public QObject {
    Q_OBJECT

  private slots:
    /// Control flow is inferred with its bodies, by core/analysis/infer.
    void everyRowInfers() {
        QStringList without;
        for (const ops::OpDef* op : ops::Registry::all().rows()) {
            const bool isControl = op->category == ops::Category::Control && !op->outputs.empty();
            if (!op->infer && op->kernel && !isControl && !op->deprecated)
                without << QString::fromStdString(nameOf(*op));
        }
        QVERIFY2(without.isEmpty(),
                 qPrintable(QString::number(without.size()) + " rows do not infer:\n" + without.join('\n')));
    }

    void inferredTypesAreThoseOfARun() {
        const QString sets = test::referenceSets();
        Checker checker;
        const QDir models(test::referenceModels());
        for (const QString& name : models.entryList({"*.onnx", "*.trace.pt"})) {
            const QString reference = models.filePath(name.section('.', 0, 0) + ".npz");
            const auto document = document::open(models.filePath(name).toStdString());
            if (document && QFile::exists(reference)) checker.check(**document, npzInputs(**document, reference));
        }
        QVERIFY(checker.calls > 500);
        if (!QDir(sets + "/onnx-conformance").exists()) qInfo("the ONNX backend cases are not there");
        QDirIterator cases(sets + "/onnx-conformance", {"model.onnx"}, QDir::Files, QDirIterator::Subdirectories);
        while (cases.hasNext()) {
            const QString file = cases.next(), folder = QFileInfo(file).path();
            const auto document = document::open(file.toStdString());
            if (document) checker.check(**document, caseInputs(**document, folder + "/test_data_set_0"));
        }
        report(checker);
        const auto excused = exceptions();
        QStringList problems;
        for (const auto& [op, text] : checker.wrong) {
            if (!excused.contains(op)) problems << QString::fromStdString(op) + " " + text;
        }
        for (const auto& [op, reason] : excused) {
            if (!checker.wrong.contains(op) && checker.counts.contains(op))
                problems << QString::fromStdString(op) + " is right now: take it off the list";
        }
        QVERIFY2(problems.isEmpty(), qPrintable("\n" + problems.join('\n')));
    }

  private:
    static void report(const Checker& checker) {
        std::size_t outputs = 0, complete = 0, ranks = 0;
        for (const auto& [op, count] : checker.counts) {
            outputs += count.outputs, complete += count.complete, ranks += count.ranks;
            if (count.complete < count.outputs)
                std::printf("%-48s %5zu outputs, %5zu with rank, %5zu with all dimensions\n", op.c_str(), count.outputs,
                            count.ranks, count.complete);
        }
        std::printf("%zu calls, %zu outputs, %zu with dtype and rank, %zu with all dimensions\n", checker.calls,
                    outputs, ranks, complete);
    }
};

QTEST_APPLESS_MAIN(TestRowInference)

}  // namespace tst_row_inference

#include "tst_row_inference.moc"
