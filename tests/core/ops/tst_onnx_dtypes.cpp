// Every element type that the ONNX specification gives to an operator (tests/data/onnx_dtypes.tsv): the signature takes
// it, and the kernel computes with it. Each ONNX backend case of a single node is run again with its inputs in every
// other type. Exceptions: tests/data/dtype_exceptions.txt, which may only shrink.

#include <QDir>
#include <QDirIterator>
#include <QFile>
#include <QtTest>

#include <cmath>
#include <cstdio>
#include <map>
#include <set>

#include "core/document/document.h"
#include "core/io/onnx/value_file.h"
#include "core/ops/registry/registry.h"
#include "tests/support/reference_sets.h"

namespace tst_onnx_dtypes {

using namespace sonde;
using tensor::DType;
using tensor::Tensor;
using tensor::Value;

namespace {

struct SpecFormal {
    QString name, variable;
    std::vector<DType> dtypes;
    bool others = false;  ///< sequences, optionals, maps too
};

struct SpecRow {
    std::string op;
    int since = 0;
    std::vector<SpecFormal> inputs, outputs;
};

std::vector<SpecRow> specification() {
    std::vector<SpecRow> rows;
    QFile file(QStringLiteral(SONDE_TEST_DATA "/onnx_dtypes.tsv"));
    if (!file.open(QIODevice::ReadOnly)) return rows;
    for (const QString& line : QString::fromUtf8(file.readAll()).split('\n', Qt::SkipEmptyParts)) {
        const QStringList fields = line.split('\t');
        SpecRow row{fields[0].toStdString(), fields[1].toInt(), {}, {}};
        bool out = false;
        for (const QString& field : fields.mid(2)) {
            if (field == "->") {
                out = true;
                continue;
            }
            const QStringList parts = field.split(':');
            SpecFormal formal{parts[0], parts.value(1), {}, false};
            for (const QString& code : parts.value(2).split(',', Qt::SkipEmptyParts)) {
                if (code == "S") formal.others = true;
                else formal.dtypes.push_back(static_cast<DType>(code.toInt()));
            }
            (out ? row.outputs : row.inputs).push_back(formal);
        }
        rows.push_back(row);
    }
    return rows;
}

const SpecFormal* formalAt(const std::vector<SpecFormal>& formals, std::size_t i) {
    return i < formals.size() ? &formals[i] : formals.empty() ? nullptr : &formals.back();
}

QString text(DType dtype) { return QString::fromStdString(std::string(tensor::name(dtype))); }

/// A case with one node of ai.onnx whose inputs are given.
struct OneNode {
    QString name;
    const ops::OpDef* op = nullptr;
    int version = 0;
    tensor::Attributes attributes;
    std::vector<Value> inputs;
    std::size_t outputs = 0;
};

std::optional<OneNode> oneNode(const QString& file) {
    const auto document = document::open(file.toStdString());
    if (!document) return std::nullopt;
    const graph::InternalGraph& graph = *(*document)->graph;
    OneNode found;
    const graph::Expr* only = nullptr;
    for (std::size_t i = 0; i < graph.exprCount(); ++i) {
        const graph::Expr& expr = graph.expr(graph::ExprId(i));
        if (graph.isErased(graph::ExprId(i)) || expr.kind == graph::ExprKind::Input ||
            expr.kind == graph::ExprKind::Output)
            continue;
        if (only || !expr.bodies.empty() || !expr.op.domain.empty()) return std::nullopt;
        only = &expr;
    }
    if (!only) return std::nullopt;
    found.name = QFileInfo(file).dir().dirName();
    found.version = only->op.version;
    found.op = ops::Registry::all().find("", only->op.name, only->op.version);
    found.attributes = only->attributes;
    found.outputs = only->outputs.size();
    for (const graph::Argument& argument : only->arguments) {
        Value value;
        if (argument.kind == graph::Argument::Kind::Node) {
            const auto at = std::ranges::find(graph.inputs(), argument.node);
            if (at == graph.inputs().end()) return std::nullopt;
            auto bytes = base::MappedFile::open(
                (QFileInfo(file).path() + QString("/test_data_set_0/input_%1.pb").arg(at - graph.inputs().begin()))
                    .toStdString());
            if (!bytes) return std::nullopt;
            auto read = io::readOnnxValue(std::move(*bytes), graph.node(argument.node).type);
            if (!read || !read->isTensor()) return std::nullopt;
            value = std::move(*read);
        }
        found.inputs.push_back(std::move(value));
    }
    return found.op && found.op->kernel && !found.op->random ? std::optional(found) : std::nullopt;
}

base::Result<std::vector<Value>> run(const OneNode& node, const std::vector<Value>& inputs) {
    base::ThreadPool pool(1);
    ops::RunEnvironment environment{&pool, {}, 0, false};
    return ops::call(*node.op, inputs, node.attributes, node.outputs, environment, node.version);
}

/// How near results in a narrow type are to those in the case's own.
double tolerance(DType dtype) { return dtype == DType::Float16 ? 1e-2 : dtype == DType::BFloat16 ? 6e-2 : 1e-4; }

class Checker {
  public:
    std::map<std::string, QString> wrong;  ///< "Op dtype" → the first problem
    std::set<std::string> ran;
    std::size_t calls = 0;

    void check(const OneNode& node, const SpecRow& row) {
        std::set<QString> variables;
        for (std::size_t i = 0; i < node.inputs.size(); ++i) {
            const SpecFormal* formal = formalAt(row.inputs, i);
            if (formal && !formal->variable.isEmpty() && node.inputs[i].isTensor()) variables.insert(formal->variable);
        }
        for (const QString& variable : variables) checkVariable(node, row, variable);
    }

  private:
    void checkVariable(const OneNode& node, const SpecRow& row, const QString& variable) {
        DType own = DType::Undefined;
        const SpecFormal* spec = nullptr;
        for (std::size_t i = 0; i < node.inputs.size(); ++i) {
            const SpecFormal* formal = formalAt(row.inputs, i);
            if (!formal || formal->variable != variable || !node.inputs[i].isTensor()) continue;
            own = node.inputs[i].tensor().dtype();
            spec = formal;
        }
        if (own == DType::String) return;
        for (DType dtype : spec->dtypes) {
            // BitCast keeps the width.
            bool defined = row.op != "BitCast" || tensor::bitsInFile(dtype) == tensor::bitsInFile(own);
            // What is not a number cannot be added; n-grams of texts are another attribute.
            const bool number = dtype != DType::Bool && dtype != DType::String && !tensor::isComplex(dtype);
            if (row.op.starts_with("Scatter") && node.attributes.getString("reduction", "none") != "none")
                defined = number;
            if (row.op == "TfIdfVectorizer") defined = dtype != DType::String;
            if (dtype != own && defined) checkDType(node, row, variable, own, dtype);
        }
    }

    void checkDType(const OneNode& node, const SpecRow& row, const QString& variable, DType own, DType dtype) {
        const std::string key = row.op + " " + text(dtype).toStdString();
        std::vector<Value> inputs = node.inputs, rounded = node.inputs;
        for (std::size_t i = 0; i < inputs.size(); ++i) {
            const SpecFormal* formal = formalAt(row.inputs, i);
            if (!formal || formal->variable != variable || !inputs[i].isTensor()) continue;
            const auto narrow = inputs[i].tensor().cast(dtype);
            if (!narrow) {
                wrong.emplace(key, node.name + ": " + QString::fromStdString(narrow.error().text()));
                return;
            }
            inputs[i] = Value(*narrow);
            const auto back = narrow->cast(own);
            if (back) rounded[i] = Value(*back);
        }
        ++calls;
        ran.insert(key);
        const auto results = run(node, inputs);
        if (!results) {
            wrong.emplace(key, node.name + ": " + QString::fromStdString(results.error().text()));
            return;
        }
        const auto expected = run(node, rounded);
        for (std::size_t i = 0; i < results->size(); ++i) {
            const SpecFormal* formal = formalAt(row.outputs, i);
            if (!formal || !(*results)[i].isTensor()) continue;
            const Tensor& found = (*results)[i].tensor();
            if (formal->variable == variable && found.dtype() != dtype) {
                wrong.emplace(key, node.name + ": gives " + QString::fromStdString(found.typeText()));
                return;
            }
            if (!expected || !(*expected)[i].isTensor()) continue;
            if (const QString what = difference(found, (*expected)[i].tensor(), *node.op, own, dtype);
                !what.isEmpty()) {
                wrong.emplace(key, node.name + ": " + what);
                return;
            }
        }
    }

    /// Values are compared where they must agree: between floating point types, and wherever elements only move.
    static QString difference(const Tensor& found, const Tensor& wanted, const ops::OpDef& op, DType own, DType dtype) {
        if (dtype == DType::String) return {};
        if (found.shape() != wanted.shape())
            return QString::fromStdString("gives " + found.typeText() + " instead of " + wanted.typeText());
        const bool moves = op.category == ops::Category::Shape || op.category == ops::Category::Tensor;
        const auto wide = [](DType type) {
            return type == DType::Float16 || type == DType::BFloat16 || type == DType::Float32 ||
                   type == DType::Float64;
        };
        if (own == DType::Bool || (!moves && !(wide(own) && wide(dtype)))) return {};
        if (moves && (dtype == DType::Bool || tensor::isComplex(dtype))) return {};
        // Nothing says what a negative number is without a sign.
        if (tensor::isInteger(dtype) && !tensor::isSigned(dtype)) return {};
        const double near = moves ? 1e-6 : std::max(tolerance(dtype), tolerance(own));
        double largest = 1;
        for (std::int64_t i = 0; i < wanted.numel(); ++i) {
            if (std::isfinite(wanted.toDouble(i))) largest = std::max(largest, std::fabs(wanted.toDouble(i)));
        }
        const auto narrowed = wanted.cast(found.dtype());
        for (std::int64_t i = 0; narrowed && i < wanted.numel(); ++i) {
            const double a = found.toDouble(i), b = narrowed->toDouble(i);
            if (a == b || (std::isnan(a) && std::isnan(b)) || std::fabs(a - b) <= near * largest || std::isinf(b) ||
                std::isinf(a))
                continue;
            return QString("element %1 of %2 is %3 instead of %4")
                .arg(i)
                .arg(QString::fromStdString(found.typeText()))
                .arg(a)
                .arg(b);
        }
        return {};
    }
};

std::map<std::string, QString> exceptions() {
    std::map<std::string, QString> all;
    QFile file(QStringLiteral(SONDE_TEST_DATA "/dtype_exceptions.txt"));
    if (!file.open(QIODevice::ReadOnly)) return all;
    for (const QByteArray& line : file.readAll().split('\n')) {
        if (line.isEmpty() || line.startsWith('#')) continue;
        const QList<QByteArray> words = line.split(' ');
        all.emplace((words.value(0) + ' ' + words.value(1)).toStdString(), QString::fromUtf8(words.mid(2).join(' ')));
    }
    return all;
}

}  // namespace

class TestOnnxDtypes : public QObject {
    Q_OBJECT

  private slots:
    void signaturesTakeWhatTheSpecificationAllows() {
        const std::vector<SpecRow> rows = specification();
        QVERIFY(rows.size() > 600);
        QStringList problems;
        for (const SpecRow& row : rows) {
            const QString where = QString::fromStdString(row.op) + "-" + QString::number(row.since);
            const ops::OpDef* op = ops::Registry::all().find("", row.op, row.since);
            if (!op) {
                problems << where + " is not known";
                continue;
            }
            for (std::size_t i = 0; i < row.inputs.size(); ++i) {
                const bool variadic = !op->inputs.empty() && op->inputs.back().arity == ops::Arity::Variadic;
                if (i >= op->inputs.size() && !variadic) {
                    problems << where + " lacks input " + row.inputs[i].name;
                    continue;
                }
                const ops::Formal& formal = i < op->inputs.size() ? op->inputs[i] : op->inputs.back();
                for (DType dtype : row.inputs[i].dtypes) {
                    if (!(formal.dtypes & ops::bit(dtype)))
                        problems << where + " input " + row.inputs[i].name + " lacks " + text(dtype);
                }
                if (row.inputs[i].others && formal.tensorOnly)
                    problems << where + " input " + row.inputs[i].name + " takes tensors only";
            }
        }
        const auto excused = exceptions();
        problems.removeIf([&](const QString& problem) {
            return excused.contains((problem.section('-', 0, 0) + " signature").toStdString());
        });
        QVERIFY2(problems.isEmpty(), qPrintable("\n" + problems.join('\n')));
    }

    void kernelsComputeWithEveryDtype() {
        const QDir cases(test::referenceSets() + "/onnx-conformance/node");
        SONDE_NEEDS_SET("onnx-conformance", cases.path());
        std::map<std::string, std::vector<SpecRow>> byName;
        for (const SpecRow& row : specification()) byName[row.op].push_back(row);
        Checker checker;
        QDirIterator files(cases.path(), {"model.onnx"}, QDir::Files, QDirIterator::Subdirectories);
        while (files.hasNext()) {
            const auto node = oneNode(files.next());
            if (!node) continue;
            const SpecRow* best = nullptr;
            for (const SpecRow& row : byName[std::string(node->op->name)]) {
                if (row.since <= node->version && (!best || row.since > best->since)) best = &row;
            }
            if (best) checker.check(*node, *best);
        }
        std::printf("%zu calls, %zu pairs of operator and element type, %zu wrong\n", checker.calls, checker.ran.size(),
                    checker.wrong.size());
        QVERIFY(checker.ran.size() > 800);
        const auto excused = exceptions();
        QStringList problems;
        for (const auto& [key, what] : checker.wrong) {
            if (!excused.contains(key)) problems << QString::fromStdString(key) + ": " + what;
        }
        for (const auto& [key, reason] : excused) {
            if (checker.ran.contains(key) && !checker.wrong.contains(key))
                problems << QString::fromStdString(key) + " is right now: take it off the list";
        }
        for (const QString& problem : problems) std::printf("%s\n", qPrintable(problem));
        QVERIFY2(problems.isEmpty(), qPrintable(QString::number(problems.size()) + " problems, listed above"));
    }
};

QTEST_APPLESS_MAIN(TestOnnxDtypes)

}  // namespace tst_onnx_dtypes

#include "tst_onnx_dtypes.moc"
