// What archives of image models have beside plain layers: modules that return None, dicts and named tuples of results,
// slices from tuples, sizes as tensors. Whoever traces them, the values are those of the text, worked out by hand; and
// a saved traced module gives them again.

#include <QTemporaryDir>
#include <QtTest>

#include <cstring>
#include <map>

#include "core/document/document.h"
#include "core/exec/runner.h"
#include "core/io/traced_module/traced_module_file.h"
#include "core/trace/traced_module.h"
#include "tests/support/script_archive.h"

namespace tst_archive_forms {

using namespace sonde;
using tensor::Tensor;
using tensor::Value;
namespace pickle = sonde::test::pickle;

namespace {

constexpr const char* kHead = "(Module):\n  __parameters__ = []\n  __buffers__ = []\n";

std::string method(const std::string& type, const std::string& signature, const QStringList& body,
                   const std::string& name = "forward") {
    std::string text = "  def " + name + "(self: __torch__." + type + signature + ":\n";
    for (const QString& line : body) text += "    " + line.toStdString() + '\n';
    return text;
}

std::string classOf(const std::string& type, const std::string& attributes, const std::string& methods) {
    return "class " + type + kHead + attributes + methods;
}

std::string ints(const std::vector<int>& values) {
    std::string items;
    for (const int value : values) items += pickle::number(value);
    return pickle::global("torch.jit._pickle", "build_intlist") + "(](" + items + "etR";
}

struct Form {
    std::string source;          ///< the file's classes, M among them
    std::string attributes;      ///< of M
    QString expected;            ///< for x = 1, 2, 3, 4
    std::string refusedBy = {};  ///< a tracer that has no such thing, and what it says
    std::string refusal = {};
};

const std::string kTensor = ",\n    x: Tensor) -> Tensor";

/// A tracer of torch records nothing in a module that returns its argument: dropout of branches, Identity.
Form returnsNone(bool takesArgument) {
    const std::string argument = takesArgument ? ",\n    argument_1: Tensor" : "";
    const QString given = takesArgument ? "_0, " : "";
    return {
        classOf("D", "",
                method("D", argument + ") -> NoneType", {"return None"}) +
                    method("D", argument + ") -> NoneType", {"return None"}, "forward1")) +
            classOf("M", "  d : __torch__.D\n",
                    method("M", kTensor,
                           {"d = self.d", "_0 = torch.mul(x, 2)", "_1 = (d).forward(" + given + ")",
                            "a = torch.add_(_0, x)", "_2 = (d).forward1(" + given + ")", "return torch.mul(a, 1)"})),
        pickle::text("d") + pickle::instance("__torch__", "D", ""), "3 6 9 12"};
}

/// A backbone with several results by name, a head that takes them, and results by name.
Form dictsOfResults() {
    return {classOf("B", "",
                    method("B", ",\n    x: Tensor) -> Dict[str, Tensor]",
                           {"out = annotate(Dict[str, Tensor], {})", "low = torch.mul(x, 2)",
                            "_0 = torch._set_item(out, \"low\", low)", "high = torch.add(low, x)",
                            "_1 = torch._set_item(out, \"high\", high)", "return out"})) +
                classOf("H", "",
                        method("H", ",\n    input: Dict[str, Tensor]) -> Tensor",
                               {"low = input[\"low\"]", "high = input[\"high\"]", "return torch.add(low, high)"})) +
                classOf("M", "  b : __torch__.B\n  h : __torch__.H\n",
                        method("M", ",\n    x: Tensor) -> Dict[str, Tensor]",
                               {"features = (self.b).forward(x, )", "y = (self.h).forward(features, )",
                                "result = annotate(Dict[str, Tensor], {})",
                                "_0 = torch._set_item(result, \"aux\", features[\"low\"])",
                                "_1 = torch._set_item(result, \"out\", y)", "return result"})),
            pickle::text("b") + pickle::instance("__torch__", "B", "") + pickle::text("h") +
                pickle::instance("__torch__", "H", ""),
            "2 4 6 8 5 10 15 20"};
}

/// A branch that is there for training only leaves a result without a value; traced modules return tensors.
Form namedTupleWithNone() {
    return {"class Out(NamedTuple):\n  logits : Tensor\n  aux : Optional[Tensor]\n" +
                classOf("M", "  training : bool\n",
                        method("M", ",\n    x: Tensor) -> __torch__.Out",
                               {"aux = annotate(Optional[Tensor], None)", "training = self.training",
                                "if training:", "  aux0 : Optional[Tensor] = torch.mul(x, 100)",
                                "else:", "  aux0 = aux", "return __torch__.Out(torch.mul(x, 3), aux0)"})),
            pickle::text("training") + '\x89', "3 6 9 12", "traced-module", "None in return values"};
}

/// A shifted window: the shift, a list of the module, is given up where the window is as large as the input.
Form slicesFromTuples(int window, const char* expected) {
    return {
        classOf(
            "M", "  shift : List[int]\n  window : int\n",
            method("M", kTensor,
                   {"s = torch.copy(self.shift)",
                    "w = self.window",
                    "if torch.ge(w, torch.size(x, 0)):",
                    "  _0 = torch._set_item(s, 0, 0)",
                    "else:",
                    "  pass",
                    "if torch.gt(torch.sum(s), 0):",
                    "  x0 = torch.roll(x, [torch.neg(s[0])], [0])",
                    "  m = torch.new_zeros(x0, [torch.size(x0, 0)])",
                    "  parts = ((0, torch.neg(w)), (torch.neg(w), torch.neg(s[0])), (torch.neg(s[0]), None))",
                    "  p, p0, p1, = parts",
                    "  _1 = torch.slice(m, 0, (p0)[0], (p0)[1])",
                    "  _2 = torch.tensor(1, dtype=ops.prim.dtype(_1), device=ops.prim.device(_1), requires_grad=False)",
                    "  _3 = torch.copy_(_1, _2)",
                    "  _4 = torch.slice(m, 0, (p1)[0], (p1)[1])",
                    "  _5 = torch.tensor(2, dtype=ops.prim.dtype(_4), device=ops.prim.device(_4), requires_grad=False)",
                    "  _6 = torch.copy_(_4, _5)",
                    "  y = torch.add(x0, m)",
                    "else:",
                    "  y = torch.neg(x)",
                    "return y"})),
        pickle::text("shift") + ints({1}) + pickle::text("window") + pickle::number(window), expected, "module-path",
        "control flow"};
}

/// A tracer of torch takes sizes for tensors: padded to a multiple of 3, as 2 rows, by columns, and cut again.
Form sizesAsTensors() {
    return {classOf("M", "",
                    method("M", kTensor,
                           {"n = ops.prim.NumToTensor(torch.size(x, 0))", "_0 = int(n)",
                            "_1 = torch.rsub(torch.remainder(n, 3), 3)", "pad = torch.remainder(_1, 3)",
                            "x0 = torch.pad(x, [0, int(pad)])", "m = ops.prim.NumToTensor(torch.size(x0, 0))",
                            "rows = torch.floor_divide(m, 3)", "x1 = torch.view(x0, [int(rows), 3])",
                            "x2 = torch.reshape(torch.permute(x1, [1, 0]), [int(torch.mul(rows, 3))])",
                            "return torch.contiguous(torch.slice(x2, 0, 0, _0))"})),
            "", "1 4 2 0"};
}

/// A table that is read by a stored index.
Form indexedTable() {
    return {
        "class M(Module):\n  __parameters__ = []\n  __buffers__ = [\"table\", \"index\", ]\n"
        "  table : Tensor\n  index : Tensor\n" +
            method("M", kTensor,
                   {"_0 = annotate(List[Optional[Tensor]], [self.index])", "bias = torch.index(self.table, _0)",
                    "bias0 = torch.permute(torch.view(bias, [2, 2, -1]), [2, 0, 1])",
                    "bias1 = torch.unsqueeze(torch.contiguous(bias0), 0)",
                    "return torch.add(x, torch.reshape(bias1, [4]))"}),
        pickle::text("table") + pickle::tensor("0", "FloatStorage", 3, 0, {3, 1}, {1, 1}) + pickle::text("index") +
            pickle::tensor("1", "LongStorage", 4, 0, {4}, {1}),
        "31 12 23 34"};
}

const std::map<QString, Form>& forms() {
    static const std::map<QString, Form> all{
        {"module that returns None", returnsNone(false)},
        {"module that takes its argument and returns None", returnsNone(true)},
        {"dicts of results", dictsOfResults()},
        {"named tuple with None", namedTupleWithNone()},
        {"slices from tuples", slicesFromTuples(2, "2 3 5 3")},
        {"slices from tuples, not taken", slicesFromTuples(9, "-1 -2 -3 -4")},
        {"sizes as tensors", sizesAsTensors()},
        {"indexed table", indexedTable()},
    };
    return all;
}

std::string tableBytes() {
    const float values[] = {10, 20, 30};
    std::string bytes(sizeof values, '\0');
    std::memcpy(bytes.data(), values, bytes.size());
    return bytes;
}

std::string indexBytes() {
    const std::int64_t values[] = {2, 0, 1, 2};
    std::string bytes(sizeof values, '\0');
    std::memcpy(bytes.data(), values, bytes.size());
    return bytes;
}

QString numbersOf(const Value& value) {
    QStringList parts;
    if (value.isTensor()) {
        for (std::int64_t i = 0; i < value.tensor().numel(); ++i) parts << QString::number(value.tensor().toDouble(i));
    } else if (value.kind() == tensor::ValueKind::Dict) {
        for (const auto& [key, item] : value.dictItems()) parts << numbersOf(item);
    } else if (value.isListLike()) {
        for (const Value& item : value.items()) parts << numbersOf(item);
    }
    return parts.join(' ');
}

/// The outputs for x = 1, 2, 3, 4, or why there are none.
QString ran(const std::string& file, const std::string& tracer) {
    document::OpenOptions options;
    options.tracer = tracer;
    if (tracer == "traced-module") options.inputData = "[1.,2.,3.,4.]";
    const auto document = document::open(file, options);
    if (!document) return "refused: " + QString::fromStdString(document.error().text());
    exec::Runner runner(1);
    const std::vector<Value> in{Value(Tensor::of<float>({4}, {1, 2, 3, 4}))};
    const exec::Recording recording = runner.run(**exec::Plan::make((*document)->graph, {}), in);
    if (recording.error) return "failed: " + QString::fromStdString(recording.error->text());
    QStringList parts;
    for (const Value& output : recording.outputs) parts << numbersOf(output);
    return parts.join(' ');
}

}  // namespace

class TestArchiveForms : public QObject {
    Q_OBJECT

    void write(const Form& form) const {
        test::writeScript(file(), form.source, form.attributes, {{"data/0", tableBytes()}, {"data/1", indexBytes()}});
    }
    std::string file() const { return m_folder.filePath("m.pt").toStdString(); }
    QTemporaryDir m_folder;

  private Q_SLOTS:
    void everyTracerFollows_data() {
        QTest::addColumn<QString>("form");
        QTest::addColumn<QString>("tracer");
        for (const auto& [name, form] : forms()) {
            for (const char* tracer : {"", "module-path", "traced-module", "robust", "custom"})
                QTest::addRow("%s, %s", qPrintable(name), tracer) << name << tracer;
        }
    }
    void everyTracerFollows() {
        QFETCH(QString, form);
        QFETCH(QString, tracer);
        const Form& given = forms().at(form);
        write(given);
        const QString got = ran(file(), tracer.toStdString());
        if (!given.refusedBy.empty() && tracer.toStdString() == given.refusedBy) {
            QVERIFY2(got.startsWith("refused: ") && got.contains(QString::fromStdString(given.refusal)),
                     qPrintable(got));
            return;
        }
        QCOMPARE(got, given.expected);
    }

    void savedModulesGiveTheSame_data() {
        QTest::addColumn<QString>("form");
        for (const auto& [name, form] : forms())
            if (form.refusedBy != "traced-module") QTest::newRow(qPrintable(name)) << name;
    }
    void savedModulesGiveTheSame() {
        QFETCH(QString, form);
        write(forms().at(form));
        document::OpenOptions options;
        options.tracer = "traced-module";
        options.inputData = "[1.,2.,3.,4.]";
        const auto document = document::open(file(), options);
        QVERIFY2(document.has_value(), document ? "" : document.error().text().c_str());
        const std::string saved = m_folder.filePath("m.sondetm").toStdString();
        const auto done = io::saveTracedModule(*(*document)->tracedModule, saved);
        QVERIFY2(done, done ? "" : done.error().text().c_str());
        QCOMPARE(ran(saved, ""), forms().at(form).expected);
    }
};

QTEST_GUILESS_MAIN(TestArchiveForms)

}  // namespace tst_archive_forms

#include "tst_archive_forms.moc"
