// What an operator is stands in core/operators alone. Elsewhere nothing compares an operator's name with a literal or
// looks it up in a table of names; creating a node by its operator's name is fine.

#include <QRegularExpression>
#include <QSet>
#include <QtTest>

#include "tests/support/source_tree.h"

namespace tst_operator_names {

using sonde::test::sourceFiles;
using sonde::test::sourceLines;

namespace {

struct Allowed {
    const char* path;  ///< a folder with its slash, or a file
    const char* why;
};

/// Definitions, rules and readers. Below core/graph in the table of includes nothing knows operators but core/ops.
constexpr Allowed kAllowed[] = {
    {"core/operators/", "definitions: what operators are"},
    {"core/ops/", "definitions: kernels and inference"},
    {"core/nn/", "definitions: layers, made of operators"},
    {"core/tensor/", "knows no operators: names of dtypes"},
    {"core/graph/set_item.h", "definition: the method of Python that has no operator"},
    {"core/export/lowering/", "rules: ONNX for each operator of ATen"},
    {"core/export/inference/block_layout.cpp", "rules: where each convolution of ONNX has its inputs"},
    {"core/export/inference/fuse_grain.cpp", "rules: the pooling of ONNX that a reduction of ONNX becomes"},
    {"core/export/inference/fuse_preprocess.cpp", "patterns: how exporters write the preprocessing of images"},
    {"core/export/inference/layouts.cpp", "rules: the nonlinearities that a layout takes behind a convolution"},
    {"core/export/inference/unfuse.cpp", "rules: the operators that each fused one of ours stands for"},
    {"core/passes/gradient.cpp", "rules: the derivative of each operator"},
    {"core/analysis/findings/activations.cpp", "rules: the bounds of activations"},
    {"core/passes/fuse_quantized.cpp", "rules: the operator on quantised tensors for each one"},
    {"core/passes/gradient_rules", "rules: the derivative of each operator"},
    {"core/session/gradient/complex_f", "rules: the derivatives of operators on complex numbers"},
    {"core/session/gradient/own_forms.cpp", "rules: how PyTorch differentiates at limits and ties"},
    {"core/session/gradient/structures.cpp", "rules: how gradients go through sequences"},
    {"core/analysis/axis_reading.cpp", "rules: which axes of its input each operator keeps"},
    {"core/analysis/axis_rules", "rules: the same"},
    {"core/analysis/known_values.cpp", "rules: arithmetic on symbols for each operator"},
    {"core/trace/guard_description.cpp", "rules: each operator as Python writes it"},
    {"core/trace/traced_module/traced_module_operations.cpp", "reader: the methods that Python calls for operators"},
    {"core/trace/traced_module/query.cpp", "names of classes of layers"},
    {"core/passes/norm_elem_wise.cpp", "names of nodes, which begin with the operator's"},
    {"core/session/diff/graph_side.cpp", "operators that exports of one model name differently"},
    {"core/session/diff/operation_settings.cpp", "rules: what operators of both vocabularies are set to"},
    {"core/session/diff/layer_functions.cpp", "operators that an exporter writes in others, and in which"},
    {"core/session/diff/canonical_operators.cpp", "rules: operators that are known in more than one form"},
    {"core/session/watch/node_identity.cpp", "operators that exports of one model name differently"},
    {"core/passes/vocabulary.cpp", "creates nodes: the names of one operation in each vocabulary"},
    {"core/lessons/", "words of the format of lessons"},
    {"core/io/dump/", "reader"},
    {"core/io/inputs/tokenizers/", "reader: keys of tokenizer.json"},
    {"core/io/traced_module/", "reader"},
    {"core/io/torchscript/builtins", "reader: functions of the language"},
    {"core/io/torchscript/interpreter", "reader"},
    {"core/io/torchscript/loops.cpp", "reader"},
    {"core/io/torchscript/number_nodes.cpp", "reader: operators on numbers"},
    {"core/io/torchscript/operators.cpp", "reader: overloads by the types of arguments"},
    {"core/io/torchscript/python_forms.cpp", "reader"},
    {"core/io/torchscript/symbolic_ops.cpp", "reader: operators on numbers"},
    {"core/trace/naming.cpp", "builtin names of Python, which no node may have"},
    {"app/verbs/trace.cpp", "formats of listings"},
    {"ui/canvas/card_labels.cpp", "fields of node labels"},
    {"ui/window/script_verbs.cpp", "words of the window's scripts"},
};

/// Names of operators that other things have as well: arguments, attributes, overloads, columns, domains, methods of
/// Python.
const QSet<QString>& namesOfOtherThings() {
    static const QSet<QString> names{"dim",    "ndim", "int",   "float", "bool", "real",       "slice",
                                     "view",   "max",  "min",   "mean",  "std",  "sum",        "aten",
                                     "Tensor", "prim", "sonde", "Shape", "T",    "torchvision"};
    return names;
}

bool isAllowed(const QString& file) {
    return std::any_of(std::begin(kAllowed), std::end(kAllowed),
                       [&](const Allowed& allowed) { return file.startsWith(QLatin1String(allowed.path)); });
}

/// From the rows of core/operators and from the list of ATen's operators.
QSet<QString> operatorNames() {
    static const QRegularExpression literal(QStringLiteral(R"lit("([\w ]+)")lit"));
    QSet<QString> names;
    for (const QString& file : sourceFiles({"core/operators"}, {"*.cpp"})) {
        // Formulas, and where arguments stand: attributes and overloads, no rows.
        if (file.contains(QLatin1String("/cost")) || file.endsWith(QLatin1String("/draws.cpp"))) continue;
        for (const QString& line : sourceLines(file)) {
            for (const QRegularExpressionMatch& match : literal.globalMatch(line)) {
                for (const QString& name : match.captured(1).split(u' ', Qt::SkipEmptyParts)) names << name;
            }
        }
    }
    for (const QString& line : sourceLines("tests/data/aten/operators.txt")) {
        if (line.startsWith(u'#')) continue;
        for (const QString& name : line.split(u' ', Qt::SkipEmptyParts)) names << name.section(u'.', 0, 0);
    }
    names.subtract(namesOfOtherThings());
    names.removeIf([](const QString& name) { return name.size() < 2 || name == u"__"; });
    return names;
}

class Scan {
  public:
    Scan() : m_names(operatorNames()) {}

    const QSet<QString>& names() const { return m_names; }

    /// The operators that the line compares with or looks up, empty if none. Comments do not count.
    QStringList found(QString line) const {
        static const QRegularExpression comment(QStringLiteral(R"((^|\s)//.*$)"));
        static const QRegularExpression compared(QStringLiteral(R"lit([!=]=\s*u?"([\w.]+)"|"([\w.]+)"\s*[!=]=)lit"));
        // \x22 is a quotation mark: moc does not see the end of raw strings with an odd count of them.
        static const QRegularExpression lookedUp(QStringLiteral(
            R"(\b(?:contains|find|count|isOneOf|starts_with|ends_with|startsWith|endsWith)\((?:[^()\x22]*,\s*)?\{?u?\x22([\w.]+)\x22)"));
        static const QRegularExpression row(
            QStringLiteral(R"lit((?:^\s*|[{,]\s*)(?:[A-Z]\w*)?\{\s*"([\w.]+)"\s*,)lit"));
        line.remove(comment);
        QStringList found = operatorsIn(compared, line) + operatorsIn(lookedUp, line);
        // Rows of a table, and lists of names. One name is no table: a call that makes a node has its own and its
        // display.
        const QStringList rows = operatorsIn(row, line);
        if (rows.size() >= 2) found += rows;
        static const QRegularExpression list(QStringLiteral(R"lit("[\w.]+"(?:\s*,\s*"[\w.]+")+)lit"));
        static const QRegularExpression literal(QStringLiteral(R"lit("([\w.]+)")lit"));
        for (const QRegularExpressionMatch& match : list.globalMatch(line)) {
            QStringList names = operatorsIn(literal, match.captured());
            names.removeDuplicates();
            if (names.size() >= 3) found += names;
        }
        return found;
    }

    /// "number: names" of all such lines of a file, tables with one row on a line among them.
    QStringList foundIn(const QStringList& lines) const {
        static const QRegularExpression onlyRow(QStringLiteral(R"lit(^\s*(?:[A-Z]\w*)?\{\s*"([\w.]+)"\s*,)lit"));
        QStringList all, before;
        for (int i = 0; i < lines.size(); ++i) {
            const QStringList row = operatorsIn(onlyRow, lines[i]);
            const QStringList names = found(lines[i]) + (before.isEmpty() ? QStringList() : row);
            if (!names.isEmpty()) all << QStringLiteral("%1: %2").arg(i + 1).arg(names.join(u' '));
            before = row;
        }
        return all;
    }

  private:
    QStringList operatorsIn(const QRegularExpression& pattern, const QString& line) const {
        QStringList found;
        for (const QRegularExpressionMatch& match : pattern.globalMatch(line)) {
            const QString name = match.captured(match.lastCapturedIndex());
            QString base = name.section(u'.', 0, 0);
            const bool isInPlace = base.endsWith(u'_') && m_names.contains(base.chopped(1));
            if (isInPlace || m_names.contains(base)) found << name;
        }
        return found;
    }

    QSet<QString> m_names;
};

}  // namespace

class TestOperatorNames : public QObject {
    Q_OBJECT

  private slots:
    void scanFindsComparisons_data();
    void scanFindsComparisons();
    void nothingComparesOperatorsByName();
    void everyExceptionIsNeeded();
};

void TestOperatorNames::scanFindsComparisons_data() {
    QTest::addColumn<QString>("line");
    QTest::addColumn<bool>("isFound");
    QTest::newRow("comparison") << R"lit(if (expr.op.name == "relu") return true;)lit" << true;
    QTest::newRow("other way round") << R"lit(if ("add_" != name) return;)lit" << true;
    QTest::newRow("overload") << R"lit(if (expr.op.name == "unsqueeze_.dimname") return;)lit" << true;
    QTest::newRow("ONNX") << R"lit(return producer.op.name != "Identity";)lit" << true;
    QTest::newRow("beginning") << R"lit(if (name.starts_with("conv2d")) return;)lit" << true;
    QTest::newRow("set") << R"lit(static const Names names{"exp", "log", "sqrt"};)lit" << true;
    QTest::newRow("wrapped set") << R"lit(        "sigmoid", "tanh", "gelu", "silu",)lit" << true;
    QTest::newRow("map") << R"lit(    {"add", Meaning::Add}, {"sub", Meaning::Sub},)lit" << true;
    QTest::newRow("rows of a type") << R"lit(    Advice{"Log", "zero"}, Advice{"Sqrt", "negative"},)lit" << true;
    QTest::newRow("rows on lines of their own")
        << "    Advice{\"Log\", \"zero\"},\n    Advice{\"Sqrt\", \"negative\"}," << true;
    QTest::newRow("helper") << R"lit(if (isOneOf(name, {"permute", "t"})) return;)lit" << true;
    QTest::newRow("comment") << R"lit(return x;  // name == "relu")lit" << false;
    QTest::newRow("trait") << R"lit(if (traitsOf(expr).opClass == OpClass::Relu) return;)lit" << false;
    QTest::newRow("new node") << R"lit(expr = callOf("aten", "view_as", {value, base});)lit" << false;
    QTest::newRow("key of a new node") << R"lit(made.op = {"aten", "ones_like", 0};)lit" << false;
    QTest::newRow("new function")
        << R"lit(constexpr Function kSetItem{"setitem", "setitem", "operator.setitem", true, "prim"};)lit" << false;
    QTest::newRow("argument") << R"lit(argumentOf(expr, 1, "dim"))lit" << false;
    QTest::newRow("no operator") << R"lit(if (format == "ONNX") return;)lit" << false;
}

void TestOperatorNames::scanFindsComparisons() {
    QFETCH(QString, line);
    QFETCH(bool, isFound);
    QCOMPARE(!Scan().foundIn(line.split(u'\n')).isEmpty(), isFound);
}

void TestOperatorNames::nothingComparesOperatorsByName() {
    const Scan scan;
    QVERIFY(scan.names().size() > 600);
    QStringList all;
    for (const QString& file : sourceFiles({"core", "ui", "app"}, {"*.h", "*.cpp"})) {
        if (isAllowed(file)) continue;
        for (const QString& found : scan.foundIn(sourceLines(file))) all << file + u':' + found;
    }
    QVERIFY2(all.isEmpty(), qPrintable("ask core/operators for traits instead:\n" + all.join(u'\n')));
}

void TestOperatorNames::everyExceptionIsNeeded() {
    const Scan scan;
    const QStringList files = sourceFiles({"core", "ui", "app"}, {"*.h", "*.cpp"});
    QStringList unneeded;
    for (const Allowed& allowed : kAllowed) {
        const bool isNeeded = std::any_of(files.begin(), files.end(), [&](const QString& file) {
            if (!file.startsWith(QLatin1String(allowed.path))) return false;
            return !scan.foundIn(sourceLines(file)).isEmpty();
        });
        if (!isNeeded) unneeded << QString::fromLatin1(allowed.path);
    }
    QVERIFY2(unneeded.isEmpty(), qPrintable("nothing there needs it: " + unneeded.join(u' ')));
}

QTEST_APPLESS_MAIN(TestOperatorNames)

}  // namespace tst_operator_names

#include "tst_operator_names.moc"
