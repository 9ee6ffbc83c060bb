// What a called module shares with its caller: views in lists, lists and dicts that it changes, its buffers and
// attributes. Whoever traces, the values are PyTorch's (worked out by hand), or it is an error that says where.

#include <QTemporaryDir>
#include <QtTest>

#include <cstring>

#include "core/document/document.h"
#include "core/exec/runner.h"
#include "tests/support/script_archive.h"

namespace tst_torchscript_calls {

using namespace sonde;
namespace pickle = sonde::test::pickle;

namespace {

/// A model M with a child c of class Ch.
struct Model {
    std::string parameter;   ///< of Ch.forward
    std::string result;      ///< its type
    std::string inside;      ///< its body
    std::string body;        ///< of M.forward, whose argument is x
    std::string attributes;  ///< of Ch: declarations
    std::string state;       ///< and values

    void write(const std::filesystem::path& path) const {
        const auto method = [](const std::string& type, const std::string& parameters, const std::string& gives,
                               const std::string& code) {
            std::string text =
                "  def forward(self: __torch__." + type + ",\n    " + parameters + ") -> " + gives + ":\n";
            for (const QString& line : QString::fromStdString(code).split('\n'))
                text += "    " + line.toStdString() + '\n';
            return text;
        };
        const std::string head = "(Module):\n  __parameters__ = []\n";
        const std::string source =
            "class Ch" + head + "  __buffers__ = [\"b\", ]\n" + attributes + method("Ch", parameter, result, inside) +
            "class M" + head + "  __buffers__ = []\n  c : __torch__.Ch\n" + method("M", "x: Tensor", "Tensor", body);
        test::writeScript(path, source, pickle::text("c") + pickle::instance("__torch__", "Ch", state),
                          {{"data/0", floats({1, 2, 3, 4})}, {"data/1", floats({0})}});
    }

  private:
    static std::string floats(const std::vector<float>& values) {
        std::string bytes(values.size() * sizeof(float), '\0');
        std::memcpy(bytes.data(), values.data(), bytes.size());
        return bytes;
    }
};

const std::string kBuffer = "  b : Tensor\n";
const std::string kOneToFour = pickle::text("b") + pickle::tensor("0", "FloatStorage", 4, 0, {4}, {1});
const std::string kZero = pickle::text("b") + pickle::tensor("1", "FloatStorage", 1, 0, {}, {});
const std::string kCounts = "_0 = torch.add_(self.b, 1)\nreturn torch.mul(x, self.b)";

struct Row {
    const char* name;
    Model model;
    QString expected;        ///< for x = 1, 2, 3, 4
    bool mayRefuse = false;  ///< loops on data, which fx refuses; views that only a run knows
    bool isTraced = false;   ///< traced-module follows it
};

// clang-format off
const Row kRows[] = {
    {"list of views, written", {"x: Tensor", "List[Tensor]", "return torch.chunk(x, 2)",
        "a = torch.clone(x)\nl = (self.c).forward(a, )\n_0 = torch.mul_(l[1], 2)\nreturn a"}, "1 2 6 8", false, true},
    {"list of views, base written", {"x: Tensor", "List[Tensor]", "return torch.chunk(x, 2)",
        "a = torch.clone(x)\nl = (self.c).forward(a, )\n_0 = torch.add_(a, 50)\nreturn torch.cat(l)"}, "51 52 53 54", false, true},
    {"view, written", {"x: Tensor", "Tensor", "return torch.slice(x, 0, 1, 3, 1)",
        "a = torch.clone(x)\nb = (self.c).forward(a, )\n_0 = torch.mul_(b, 2)\nreturn a"}, "1 4 6 4", false, true},
    {"list that is appended to and written", {"l: List[Tensor]", "Tensor",
        "_0 = torch.add_(l[0], 10)\n_1 = torch.append(l, torch.mul(l[0], 2))\nreturn torch.mul(l[0], 1)",
        "a = torch.clone(x)\nl = annotate(List[Tensor], [torch.slice(a, 0, 0, 2, 1)])\nb = (self.c).forward(l, )\n"
        "return torch.cat([a, b, torch.cat(l)])"}, "11 12 3 4 11 12 11 12 22 24"},
    {"list that keeps what is returned", {"l: List[Tensor]", "Tensor", "y = torch.neg(l[0])\n_0 = torch.append(l, y)\nreturn y",
        "l = annotate(List[Tensor], [torch.clone(x)])\nb = (self.c).forward(l, )\n_0 = torch.add_(b, 1)\nreturn l[1]"}, "0 -1 -2 -3", false, true},
    {"list that holds a tensor twice", {"l: List[Tensor]", "Tensor", "_0 = torch.add_(l[1], l[0])\nreturn torch.mul(l[0], 1)",
        "a = torch.clone(x)\nv = torch.unbind(torch.view(a, [1, 4]))[0]\nl = annotate(List[Tensor], [v, v])\ny = (self.c).forward(l, )\n"
        "return torch.cat([a, y])"}, "2 4 6 8 2 4 6 8", true},
    {"list that gets what was written and is returned", {"l: List[Tensor]", "Tensor",
        "v = torch.contiguous(l[0])\n_0 = torch.mul_(v, 2)\n_1 = torch.append(l, v)\nreturn v",
        "a = torch.clone(x)\nl = annotate(List[Tensor], [a])\n_0 = (self.c).forward(l, )\n_1 = torch.add_(a, 50)\nreturn torch.mul(l[1], 1)"},
        "52 54 56 58", false, true},
    {"tuple, written", {"d: Tuple[Tensor, Tensor]", "Tensor", "p, q, = d\n_0 = torch.add_(q, 50)\nreturn torch.mul(p, 1)",
        "a = torch.clone(x)\ny = (self.c).forward((a, torch.slice(a, 0, 1, 2, 1)), )\nreturn torch.cat([a, y])"}, "1 52 3 4 1 52 3 4"},
    {"dict that gets a key", {"d: Dict[str, Tensor]", "Tensor",
        "_0 = torch._set_item(d, \"v\", torch.mul(d[\"u\"], 2))\n_1 = torch.add_(d[\"u\"], 1)\nreturn torch.mul(d[\"u\"], 1)",
        "a = torch.clone(x)\nd = annotate(Dict[str, Tensor], {\"u\": a})\ny = (self.c).forward(d, )\nreturn torch.cat([a, d[\"v\"]])"},
        "2 3 4 5 2 4 6 8"},
    {"optional view", {"x: Tensor", "Tensor", "return x",
        "a = torch.clone(x)\nif bool(torch.gt(torch.sum(a), 100)):\n  b = annotate(Optional[Tensor], None)\nelse:\n  b = torch.slice(a, 0, 0, 2, 1)\n"
        "if torch.__isnot__(b, None):\n  b0 = unchecked_cast(Tensor, b)\n  _0 = torch.add_(b0, 50)\nelse:\n  pass\nreturn a"},
        "51 52 3 4", true, true},
    {"buffer that counts", {"x: Tensor", "Tensor", kCounts,
        "a = (self.c).forward(x, )\nb = (self.c).forward(a, )\nd = (self.c).forward(b, )\nreturn torch.cat([a, b, d])", kBuffer, kZero},
        "1 2 3 4 2 4 6 8 6 12 18 24"},
    {"buffer that counts in a loop", {"x: Tensor", "Tensor", kCounts,
        "a = x\nfor i in range(int(torch.select(x, 0, 2))):\n  a = (self.c).forward(a, )\nreturn torch.add(a, self.c.b)", kBuffer, kZero},
        "9 15 21 27", true},
    {"buffer, read by its owner's caller", {"x: Tensor", "Tensor", kCounts,
        "a = (self.c).forward(x, )\nreturn torch.add(a, self.c.b)", kBuffer, kZero}, "2 3 4 5"},
    {"buffer that is given away", {"x: Tensor", "Tensor", "return self.b",
        "b = (self.c).forward(x, )\n_0 = torch.mul_(b, 2)\nd = (self.c).forward(x, )\nreturn torch.add(d, x)", kBuffer, kOneToFour}, "3 6 9 12"},
    {"buffer that a loop writes", {"x: Tensor", "Tensor",
        "k = bool(torch.lt(torch.sum(self.b), 50))\nwhile k:\n  _0 = torch.add_(self.b, x)\n  k = bool(torch.lt(torch.sum(self.b), 50))\nreturn torch.mul(self.b, 1)",
        "return (self.c).forward(x, )", kBuffer, kOneToFour}, "5 10 15 20", true, true},
    {"attribute that is assigned", {"x: Tensor", "Tensor", "h = torch.add(torch.mul(self.b, 0.5), x)\nself.b = h\nreturn torch.mul(h, 1)",
        "y = (self.c).forward(x, )\nz = (self.c).forward(x, )\nreturn torch.add(y, torch.mul(z, 100))", kBuffer, kZero}, "151 302 453 604"},
    {"tensors that are broadcast", {"x: Tensor", "List[Tensor]", "return torch.broadcast_tensors([x, torch.ones([2, 1])])",
        "a = torch.clone(x)\nl = (self.c).forward(a, )\n_0 = torch.add_(a, 10)\nreturn torch.flatten(l[0])"}, "11 12 13 14 11 12 13 14", true},
    {"parts of given lengths", {"x: Tensor", "List[Tensor]", "return torch.tensor_split(x, 2)",
        "a = torch.clone(x)\nl = (self.c).forward(a, )\n_0 = torch.add_(l[1], 10)\nreturn a"}, "1 2 13 14", true},
    {"running statistics", {"x: Tensor", "Tensor",
        "_0 = torch.batch_norm(torch.stack([x, x]), None, None, self.b, torch.ones([4]), True, 0.5, 1e-5, False)\nreturn torch.mul(self.b, 1)",
        "return (self.c).forward(torch.mul(x, 3), )", kBuffer, kOneToFour}, "2 4 6 8", true},
    {"buffers that overlap", {"x: Tensor", "Tensor", "_0 = torch.add_(self.part, 1)\nreturn torch.mul(self.b, 1)",
        "return (self.c).forward(x, )", kBuffer + "  part : Tensor\n",
        kOneToFour + pickle::text("part") + pickle::tensor("0", "FloatStorage", 4, 1, {2}, {1})}, "1 3 4 4", true},
    {"optional that is first a tensor two branches deep", {"x: Tensor", "Tensor",
        "if bool(torch.gt(torch.sum(x), 100)):\n  b = annotate(Optional[Tensor], None)\nelse:\n  b = torch.slice(x, 0, 0, 2, 1)\n"
        "if bool(torch.gt(torch.sum(x), 1)):\n  if torch.__isnot__(b, None):\n    b0 = unchecked_cast(Tensor, b)\n    _0 = torch.add_(b0, 50)\n"
        "  else:\n    pass\nelse:\n  pass\nreturn torch.mul(x, 1)",
        "a = torch.clone(x)\ny = (self.c).forward(a, )\nreturn torch.cat([a, y])"}, "51 52 3 4 51 52 3 4", true},
    {"optional that is no view, two branches deep", {"x: Tensor", "Tensor",
        "if bool(torch.gt(torch.sum(x), 100)):\n  b = annotate(Optional[Tensor], None)\nelse:\n  b = torch.mul(x, 2)\n"
        "if bool(torch.gt(torch.sum(x), 1)):\n  if torch.__isnot__(b, None):\n    b0 = unchecked_cast(Tensor, b)\n    _0 = torch.add_(b0, 50)\n"
        "  else:\n    pass\nelse:\n  pass\nif torch.__isnot__(b, None):\n  b1 = unchecked_cast(Tensor, b)\n  r = torch.mul(b1, 1)\n"
        "else:\n  r = x\nreturn r",
        "return (self.c).forward(torch.clone(x), )"}, "52 54 56 58", true, true},
    {"list that a module holds", {"x: Tensor", "Tensor", "_0 = torch.append(self.seen, x)\nreturn torch.sum(torch.stack(self.seen), [0])",
        "y = (self.c).forward(x, )\nz = (self.c).forward(torch.mul(x, 2), )\nreturn torch.add(y, z)",
        "  seen : List[Tensor]\n", pickle::text("seen") + "]"}, "4 8 12 16"},
};
// clang-format on

QString numbersOf(const exec::Recording& recording) {
    QStringList parts;
    for (const tensor::Value& output : recording.outputs) {
        for (std::int64_t i = 0; output.isTensor() && i < output.tensor().numel(); ++i)
            parts << QString::number(output.tensor().toDouble(i));
    }
    return parts.join(' ');
}

/// The values, or "refused: …".
QString given(const std::string& path, const document::OpenOptions& options) {
    const auto opened = document::open(path, options);
    if (!opened) return "refused: " + QString::fromStdString(opened.error().text());
    const std::string& failure = (*opened)->modules->module(0).failure;
    const auto plan = exec::Plan::make((*opened)->graph, {});
    if (!plan) return "refused: " + QString::fromStdString(plan.error().text() + ' ' + failure);
    exec::Runner runner(1);
    const tensor::Tensor x = tensor::Tensor::of<float>({4}, {1, 2, 3, 4});
    const exec::Recording recording = runner.run(**plan, std::vector<tensor::Value>{tensor::Value(x)}, {});
    if (recording.error) return "refused: " + QString::fromStdString(recording.error->text() + ' ' + failure);
    return numbersOf(recording);
}

/// Of a model whose child does nothing.
QString ran(const std::string& body, const QString& tracer) {
    const QTemporaryDir folder;
    const std::string path = folder.filePath("m.pt").toStdString();
    Model{"x: Tensor", "Tensor", "return x", body}.write(path);
    document::OpenOptions options;
    options.tracer = tracer.toStdString();
    if (tracer == "traced-module") options.inputData = "x:[1.0,2.0,3.0,4.0]";
    return given(path, options);
}
/// Of the archive's code, in front of the body of M in `ran`.
constexpr int kLinesBefore = 12;

}  // namespace

class TestTorchScriptCalls : public QObject {
    Q_OBJECT

  private slots:
    void everyTracerFollowsOrRefuses_data() {
        QTest::addColumn<int>("row");
        QTest::addColumn<QString>("tracer");
        QTest::addColumn<QString>("leaf");
        for (int i = 0; i < static_cast<int>(std::size(kRows)); ++i) {
            for (const char* tracer : {"", "module-path", "robust", "custom", "traced-module"}) {
                for (const char* leaf : {"", "none", "Ch"})
                    QTest::addRow("%s, %s, leaf %s", kRows[i].name, tracer, leaf) << i << tracer << leaf;
            }
        }
    }
    void everyTracerFollowsOrRefuses() {
        QFETCH(int, row);
        QFETCH(QString, tracer);
        QFETCH(QString, leaf);
        const QTemporaryDir folder;
        const std::string path = folder.filePath("m.pt").toStdString();
        const Row& chosen = kRows[row];
        chosen.model.write(path);
        document::OpenOptions options;
        options.tracer = tracer.toStdString();
        if (!leaf.isEmpty()) options.leaves = {leaf.toStdString()};
        const bool isTraced = tracer == "traced-module";
        if (isTraced) options.inputData = "x:[1.0,2.0,3.0,4.0]";
        const QString got = given(path, options);
        const bool isFollowed = leaf != "Ch" && (isTraced ? chosen.isTraced : !chosen.mayRefuse);
        if (isFollowed || !got.startsWith("refused: ")) {
            QCOMPARE(got, chosen.expected);
            return;
        }
        QVERIFY2(got.contains("TraceError") || got.contains("RuntimeError") || got.contains("control flow") ||
                     got.contains("cannot be interpreted"),
                 qPrintable(got));
        const bool saysWhere = got.contains("code/__torch__.py:") || got.contains("module 'c'") ||
                               got.contains("(M)") || got.contains("class Ch") || got.contains("node '");
        QVERIFY2(saysWhere, qPrintable(got));
    }

    /// An operator that Sonde lacks and that may write to its arguments is not passed over.
    void unknownWritesEndTheRun_data() {
        QTest::addColumn<QString>("call");
        QTest::newRow("in place") << "torch._foreach_add_([a, v], 1)";
        QTest::newRow("of a library") << "ops.mylib.write(v)";
        QTest::newRow("augmented") << "torch.__ipow__(v, 2)";
    }
    void unknownWritesEndTheRun() {
        QFETCH(QString, call);
        const QTemporaryDir folder;
        const std::string path = folder.filePath("m.pt").toStdString();
        Model model{"x: Tensor", "Tensor", "return x",
                    "a = torch.clone(x)\nv = torch.slice(a, 0, 1, 3, 1)\n_0 = " + call.toStdString() + "\nreturn a"};
        model.write(path);
        const QString got = given(path, {});
        QVERIFY2(got.startsWith("refused: ") && got.contains("not known"), qPrintable(got));
    }

    /// Operators that may return their argument, or a view of it: each way to trace gives PyTorch's values or refuses.
    void specialCasesOfOperators_data() {
        QTest::addColumn<QString>("call");
        QTest::addColumn<bool>("isShown");
        QTest::addColumn<bool>("isItself");
        QTest::addColumn<QString>("tracer");
        const auto add = [](std::initializer_list<const char*> calls, bool isShown, bool isItself) {
            for (const char* call : calls) {
                for (const char* tracer : {"", "module-path", "robust", "custom", "traced-module"})
                    QTest::addRow("%s, %s", call, tracer) << call << isShown << isItself << tracer;
            }
        };
        add({"torch.contiguous(a)", "torch.to(a, 6)", "torch.flatten(a)", "torch.flatten(a, 0, 0)",
             "torch.atleast_1d(a)", "torch.positive(a)", "torch.lift_fresh(a)", "torch.dropout(a, 0.5, False)",
             "torch.dropout(a, 0., True)", "torch.feature_dropout(a, 0., True)", "torch.broadcast_tensors([a, x])[0]",
             "torch.atleast_1d([a])[0]", "torch.cartesian_prod([a])", "torch.conj(a)", "torch.as_tensor(a)"},
            true, true);
        add({"torch.reshape(a, [4])", "torch.ravel(a)", "torch.squeeze(a)", "torch.chunk(a, 1)[0]",
             "torch.tensor_split(a, 1)[0]", "torch.einsum(\"i->i\", [a])", "torch.detach(a)", "ops.prim.data(a)",
             "torch.meshgrid([a])[0]"},
            true, false);
        add({"torch.cat([a])", "torch.repeat(a, [1])", "torch.cartesian_prod([a, a])",
             "torch.einsum(\"i,i->i\", [a, a])", "torch.relu(a)"},
            false, false);
    }
    void specialCasesOfOperators() {
        QFETCH(QString, call);
        QFETCH(bool, isShown);
        QFETCH(bool, isItself);
        QFETCH(QString, tracer);
        const std::string head = "a = torch.clone(x)\nv = " + call.toStdString() + '\n';
        const QString written = ran(head + "_0 = torch.add_(v, 50)\nreturn a", tracer);
        QVERIFY2(written.startsWith("refused: ") || written == (isShown ? "51 52 53 54" : "1 2 3 4"),
                 qPrintable(written));
        const QString base = ran(head + "_0 = torch.add_(a, 50)\nreturn torch.mul(v, 1)", tracer);
        const bool isAll = !call.contains("[a, a]");
        QVERIFY2(!isAll || base.startsWith("refused: ") || base == (isShown ? "51 52 53 54" : "1 2 3 4"),
                 qPrintable(base));
        const QString shape =
            ran(head + "_0 = torch.unsqueeze_(v, 0)\nreturn torch.mul(torch.select(a, 0, 0), 1)", tracer);
        QVERIFY2(shape.startsWith("refused: ") || shape == (isItself ? "1 2 3 4" : "1"), qPrintable(shape));
    }
    /// The commonest of them are followed.
    void specialCasesThatAreFollowed_data() {
        QTest::addColumn<QString>("call");
        for (const char* call : {"torch.contiguous(a)", "torch.flatten(a)", "torch.positive(a)",
                                 "torch.dropout(a, 0., True)", "torch.cartesian_prod([a])", "ops.prim.data(a)"})
            QTest::newRow(call) << call;
    }
    void specialCasesThatAreFollowed() {
        QFETCH(QString, call);
        const std::string head = "a = torch.clone(x)\nv = " + call.toStdString() + '\n';
        for (const char* tracer : {"", "module-path", "robust", "custom", "traced-module"}) {
            QCOMPARE(ran(head + "_0 = torch.add_(v, 50)\nreturn a", tracer), QStringLiteral("51 52 53 54"));
            QCOMPARE(ran(head + "_0 = torch.add_(a, 50)\nreturn torch.mul(v, 1)", tracer),
                     QStringLiteral("51 52 53 54"));
        }
    }

    /// as_strided counts in the storage, whatever its argument shows of it.
    void stridesCountInTheStorage_data() {
        QTest::addColumn<QString>("view");
        QTest::addColumn<QString>("expected");
        QTest::newRow("transposed") << "torch.as_strided(torch.t(torch.view(a, [2, 2])), [4], [1])"
                                    << "1 2 3 4";
        QTest::newRow("a part, from the start") << "torch.as_strided(torch.slice(a, 0, 1, 3, 1), [2], [1], 0)"
                                                << "1 2";
        QTest::newRow("a part") << "torch.as_strided(torch.slice(a, 0, 1, 3, 1), [3], [1])"
                                << "2 3 4";
        QTest::newRow("every second one") << "torch.as_strided(torch.slice(a, 0, 0, 4, 2), [2], [1])"
                                          << "1 2";
        QTest::newRow("repeated") << "torch.as_strided(torch.expand(torch.slice(a, 0, 1, 2, 1), [3]), [3], [1])"
                                  << "2 3 4";
        QTest::newRow("all of it") << "torch.as_strided(a, [2, 2], [1, 2])"
                                   << "1 3 2 4";
        // What PyTorch makes of a transposed matrix is transposed in memory.
        QTest::newRow("made of a transposed one")
            << "torch.as_strided(torch.relu(torch.t(torch.view(a, [2, 2]))), [4], [1])"
            << "1 2 3 4";
        QTest::newRow("made of a plain one") << "torch.as_strided(torch.relu(torch.view(a, [2, 2])), [4], [1])"
                                             << "1 2 3 4";
    }
    void stridesCountInTheStorage() {
        QFETCH(QString, view);
        QFETCH(QString, expected);
        for (const char* tracer : {"", "module-path", "robust", "custom", "traced-module"}) {
            const QString got = ran("a = torch.clone(x)\nreturn torch.mul(" + view.toStdString() + ", 1)", tracer);
            QVERIFY2(got == expected || (got.startsWith("refused: ") && got.contains("code/__torch__.py:")),
                     qPrintable(tracer + (": " + got)));
        }
        for (const char* known : {"torch.t(torch.view(a, [2, 2]))", "torch.relu(torch.view(a, [2, 2]))"}) {
            QVERIFY(!ran("a = torch.clone(x)\nreturn torch.as_strided(" + std::string(known) + ", [4], [1])", "")
                         .startsWith("refused"));
        }
    }

    /// Where the archive says the place, an error has it.
    void refusalsSayWhere_data() {
        QTest::addColumn<QString>("body");
        QTest::addColumn<QString>("tracer");
        QTest::addColumn<int>("line");  // of the body
        const auto add = [](const char* body, int line) {
            for (const char* tracer : {"", "custom", "traced-module"})
                QTest::addRow("%s, %s", body, tracer) << body << tracer << line;
        };
        add("l = torch.meshgrid([a, x])\n_0 = torch.add_(a, 1)\nreturn l[0]", 4);
        add("l = torch.tensor_split(a, 2)\n_0 = torch.add_(l[0], 1)\nreturn a", 4);
        add("l = torch.hsplit(a, 2)\n_0 = torch.add_(l[0], 1)\nreturn a", 4);
        add("l = torch.vsplit(torch.view(a, [2, 2]), 2)\n_0 = torch.add_(l[0], 1)\nreturn a", 4);
        add("l = torch.dsplit(torch.view(a, [1, 2, 2]), 2)\n_0 = torch.add_(a, 1)\nreturn l[1]", 4);
        add("l = torch.broadcast_tensors([a, x])\n_0 = torch.add_(a, 1)\nreturn l[0]", 4);
        add("v = torch.to(a, 6)\n_0 = torch.add_(v, 1)\nreturn a", 4);
        add("v = torch.contiguous(a)\n_0 = torch.unsqueeze_(v, 0)\nreturn a", 3);
        add("l = [a]\nreturn l[3]", 3);
        add("v = torch.add(a, \"x\")\nreturn v", 2);
    }
    void refusalsSayWhere() {
        QFETCH(QString, body);
        QFETCH(QString, tracer);
        QFETCH(int, line);
        const QString got = ran("a = torch.clone(x)\n" + body.toStdString(), tracer);
        QVERIFY2(got.startsWith("refused: "), qPrintable(got));
        const QString place = "code/__torch__.py:" + QString::number(kLinesBefore + line);
        QVERIFY2(got.contains(place), qPrintable(got));
        QVERIFY2(!got.contains(":  "), qPrintable(got));
    }

    /// What one trace does to a module's list, the next one does not find.
    void eachTraceBeginsWithTheFile() {
        const QTemporaryDir folder;
        const std::string path = folder.filePath("m.pt").toStdString();
        const Row* row = std::ranges::find(kRows, std::string_view("list that a module holds"), &Row::name);
        QVERIFY(row != std::end(kRows));
        row->model.write(path);
        const auto opened = document::open(path);
        QVERIFY(opened);
        for (int i = 0; i < 3; ++i) QCOMPARE(given(path, {}), row->expected);
    }
};

QTEST_GUILESS_MAIN(TestTorchScriptCalls)

}  // namespace tst_torchscript_calls

#include "tst_torchscript_calls.moc"
