// The serialised language, form by form, on archives written here; every expected value is worked out by hand.

#include <QtTest>

#include <algorithm>
#include <functional>
#include <thread>

#include "core/document/document.h"
#include "core/exec/runner.h"
#include "core/export/lowering/onnx_graph.h"
#include "tests/support/script_program.h"

namespace tst_torchscript_language {

using namespace sonde;
using tensor::Tensor;
using tensor::Value;
using test::model;
using test::numbers;
using test::Script;

class TestTorchScriptLanguage : public QObject {
    Q_OBJECT

  private slots:
    void partsInPartsEnd_data() {
        QTest::addColumn<bool>("lists");
        QTest::newRow("tuples") << false;
        QTest::newRow("lists") << true;
    }
    void partsInPartsEnd() {
        QFETCH(bool, lists);
        std::string body = "    y0 = x\n";
        for (int i = 0; i < 40; ++i) {
            const std::string part = "y" + std::to_string(i);
            body += "    y" + std::to_string(i + 1) + " = " + (lists ? '[' : '(') + part + ", " + part +
                    (lists ? ']' : ')') + '\n';
        }
        const Script script(model(body + "    return y40\n"));
        QVERIFY(script.opened);
        const std::string& failure = (*script.opened)->modules->module(0).failure;
        QVERIFY2(failure.find("too many nested parts") != std::string::npos, failure.c_str());
        QVERIFY(numbers(script.run({1, 2})).contains("too many nested parts"));
    }

    void forms_data() {
        QTest::addColumn<QByteArray>("source");
        QTest::addColumn<QString>("expected");  // for x = 1, 2
        const auto add = [](const char* name, const std::string& source, const char* expected) {
            QTest::newRow(name) << QByteArray::fromStdString(source) << QString(expected);
        };
        add("number arithmetic",
            model(
                "    a = torch.floordiv(-7, 2)\n    b = torch.remainder(-7, 2)\n    c = torch.pow(2, 10)\n    return torch.add(x, torch.add(torch.add(a, b), c))\n"),
            "1022 1023");
        add("conversion that copies", model("    return torch.to(torch.mul(x, 1.5), 4, False, True)\n"), "1 3");
        add("bools in place",
            model(
                "    a = torch.gt(x, 1)\n    _0 = torch.__iand__(a, torch.lt(x, 2))\n    return torch.mul(x, torch.to(a, 6))\n"),
            "0 0");
        add("while",
            model(
                "    i = 0\n    y = x\n    _0 = torch.lt(i, 3)\n    while _0:\n      y = torch.mul(y, 2)\n      i = torch.add(i, 1)\n      _0 = torch.lt(i, 3)\n    return y\n"),
            "8 16");
        add("dict with a key twice",
            model("    d = annotate(Dict[str, Tensor], {\"a\": x, \"b\": torch.mul(x, 3), \"a\": torch.mul(x, 2)})\n"
                  "    return torch.add(d[\"a\"], torch.mul(torch.len(d), 10))\n"),
            "22 24");
        add("keys of a dict with a key twice",
            model("    d = {1: 5, 2: 6, 1: 7}\n    return torch.mul(x, torch.add(torch.mul(d[1], 10), "
                  "torch.keys(d)[0]))\n"),
            "71 142");
        add("sum of numbers",
            model("    return torch.mul(x, torch.add(torch.sum([1, 2, 4]), torch.sum([0.25, 0.5])))\n"), "7.75 15.5");
        add("sum of bools", model("    return torch.mul(x, torch.sum([True, False, True]))\n"), "2 4");
        add("sum of no numbers", model("    return torch.add(x, torch.sum(annotate(List[int], [])))\n"), "1 2");
        add("sum of sizes", model("    return torch.mul(x, torch.sum(torch.size(torch.stack([x, x, x]))))\n"), "5 10");
        add("sum of sizes and numbers", model("    return torch.mul(x, torch.sum([torch.size(x, 0), 3]))\n"), "5 10");
        add("sum of a number of the data", model("    return torch.mul(x, torch.sum([int(torch.sum(x)), 4]))\n"),
            "7 14");
        add("sum of a list that a loop makes",
            model("    l = annotate(List[int], [])\n    for i in range(int(torch.sum(x))):\n"
                  "      _0 = torch.append(l, i)\n    return torch.mul(x, torch.sum(l))\n"),
            "3 6");
        add("for over a list's length",
            model(
                "    xs = [1., 2., 4.]\n    s = 0.\n    for i in range(torch.len(xs)):\n      s = torch.add(s, xs[i])\n    return torch.mul(x, s)\n"),
            "7 14");
        add("branch on data",
            model(
                "    if bool(torch.gt(torch.sum(x), 2)):\n      y = torch.neg(x)\n    else:\n      y = x\n    return y\n"),
            "-1 -2");
        add("branch on data, other side",
            model(
                "    if bool(torch.gt(torch.sum(x), 5)):\n      y = torch.neg(x)\n    else:\n      y = x\n    return y\n"),
            "1 2");
        add("branches return",
            model("    if bool(torch.gt(torch.sum(x), 2)):\n      return torch.mul(x, 3)\n    else:\n      return x\n"),
            "3 6");
        add("numbers out of branches",
            model(
                "    if bool(torch.gt(torch.sum(x), 2)):\n      n, s = 3, (x, 4)\n    else:\n      n, s = 5, (torch.neg(x), 6)\n    y, m, = s\n    return torch.add(torch.mul(y, n), m)\n"),
            "7 10");
        add("in place inside of a branch",
            model(
                "    y = torch.mul(x, 1)\n    if bool(torch.gt(torch.sum(x), 2)):\n      _0 = torch.add_(y, 10)\n    else:\n      pass\n    return y\n"),
            "11 12");
        add("in place, not taken",
            model(
                "    y = torch.mul(x, 1)\n    if bool(torch.gt(torch.sum(x), 5)):\n      _0 = torch.add_(y, 10)\n    else:\n      pass\n    return y\n"),
            "1 2");
        add("list grows in a branch",
            model(
                "    ys = annotate(List[Tensor], [])\n    _0 = torch.append(ys, x)\n    if bool(torch.gt(torch.sum(x), 2)):\n      _1 = torch.append(ys, torch.neg(x))\n    else:\n      pass\n    return torch.cat(ys)\n"),
            "1 2 -1 -2");
        add("list grows in a loop",
            model(
                "    ys = annotate(List[Tensor], [])\n    for i in range(torch.size(x, 0)):\n      _0 = torch.append(ys, torch.mul(x, i))\n    return torch.cat(ys)\n"),
            "0 0 1 2");
        add("loop until the data says so",
            model(
                "    y = x\n    n = 0\n    _0 = bool(torch.lt(torch.max(y), 10))\n    while _0:\n      y1 = torch.mul(y, 2)\n      n1 = torch.add(n, 1)\n      _0, y, n = bool(torch.lt(torch.max(y1), 10)), y1, n1\n    return (y, n)\n",
                "Tuple[Tensor, int]"),
            "8 16 3");
        add("loop in a loop",
            model(
                "    y = x\n    for i in range(torch.size(x, 0)):\n      z = y\n      for j in range(torch.add(i, 1)):\n        z = torch.add(z, 1)\n      y = z\n    return y\n"),
            "4 5");
        add("tuples around a loop",
            model(
                "    s = (x, 1)\n    for i in range(torch.size(x, 0)):\n      a, b, = s\n      s = (torch.add(a, b), torch.mul(b, 2))\n    c, d, = s\n    return torch.mul(c, d)\n"),
            "16 20");
        add("uninitialised flags",
            model(
                "    _0 = uninitialized(Tensor)\n    if bool(torch.gt(torch.sum(x), 2)):\n      _1, _2 = True, torch.neg(x)\n    else:\n      _1, _2 = False, _0\n    if _1:\n      y = _2\n    else:\n      y = x\n    return y\n"),
            "-1 -2");
        add("dict",
            model(
                "    d = {\"a\": 1, \"b\": 2}\n    torch._set_item(d, \"c\", 3)\n    s = 0\n    for i in range(torch.len(torch.keys(d))):\n      s = torch.add(s, torch.list(torch.values(d))[i])\n    return torch.add(x, s)\n"),
            "7 8");
        add("dict of tensors",
            model(
                "    d = annotate(Dict[str, Tensor], {})\n    torch._set_item(d, \"n\", torch.neg(x))\n    return d\n",
                "Dict[str, Tensor]"),
            "-1 -2");
        add("contains",
            model(
                "    if torch.__contains__([\"a\", \"b\"], \"b\"):\n      n = 2\n    else:\n      n = 3\n    return torch.mul(x, n)\n"),
            "2 4");
        add("optional",
            model(
                "    n = annotate(Optional[int], None)\n    if torch.__is__(n, None):\n      m = 5\n    else:\n      m = unchecked_cast(int, n)\n    return torch.mul(x, m)\n"),
            "5 10");
        add("optional that the data decides",
            model(
                "    if bool(torch.gt(torch.sum(x), 2)):\n      y : Optional[Tensor] = torch.neg(x)\n    else:\n      y = None\n    if torch.__isnot__(y, None):\n      z = torch.mul(unchecked_cast(Tensor, y), 2)\n    else:\n      z = x\n    return z\n"),
            "-2 -4");
        add("isinstance",
            model(
                "    if isinstance(3, int):\n      n = 2\n    else:\n      n = 3\n    if isinstance(x, [int, float]):\n      m = 100\n    else:\n      m = 0\n    return torch.add(torch.mul(x, n), m)\n"),
            "2 4");
        add("strings",
            model(
                "    s = torch.format(\"{}-{}\", 1, \"b\")\n    if torch.eq(s, \"1-b\"):\n      n = torch.len(torch.add(s, \"c\"))\n    else:\n      n = 0\n    return torch.mul(x, n)\n"),
            "4 8");
        add("print and del",
            model(
                "    print(\"x\", 1)\n    d = {\"a\": 1}\n    torch.Delete(d, \"a\")\n    return torch.mul(x, torch.len(d))\n"),
            "0 0");
        add("fork and wait",
            model("    f = fork(__torch__.twice, x)\n    return torch.wait(f)\n", "Tensor", {},
                  "def twice(x: Tensor) -> Tensor:\n  return torch.mul(x, 2)\n"),
            "2 4");
        add("functions with defaults and keywords",
            model(
                "    return __torch__.f(x, c=3)\n", "Tensor", {},
                "def f(x: Tensor,\n    b: int=10,\n    c: int=1) -> Tensor:\n  return torch.add(torch.mul(x, c), b)\n"),
            "13 16");
        add("recursion that ends",
            model(
                "    return torch.mul(x, __torch__.fact(5))\n", "Tensor", {},
                "def fact(n: int) -> int:\n  if torch.le(n, 1):\n    _0 = 1\n  else:\n    _0 = torch.mul(n, __torch__.fact(torch.sub(n, 1)))\n  return _0\n"),
            "120 240");
        add("classes",
            model(
                "    c = __torch__.Counter.__new__(__torch__.Counter)\n    _0 = (c).__init__(3, )\n    _1 = (c).bump(4, )\n    return torch.mul(x, c.n)\n",
                "Tensor", {},
                "class Counter:\n  n : int\n  def __init__(self: __torch__.Counter,\n    start: int) -> NoneType:\n    self.n = start\n    return None\n"
                "  def bump(self: __torch__.Counter,\n    by: int) -> int:\n    n = self.n\n    self.n = torch.add(n, by)\n    return self.n\n"),
            "7 14");
        add("classes whose methods have another word for self",
            model(
                "    c = __torch__.Counter.__new__(__torch__.Counter)\n    _0 = (c).__init__(3, )\n    _1 = (c).bump(4, )\n    return torch.mul(x, c.n)\n",
                "Tensor", {},
                "class Counter:\n  n : int\n  def __init__(me_: __torch__.Counter,\n    start: int) -> NoneType:\n    me_.n = start\n    return None\n"
                "  def bump(me_: __torch__.Counter,\n    by: int) -> int:\n    n = me_.n\n    me_.n = torch.add(n, by)\n    return me_.n\n"),
            "7 14");
        add("named tuples",
            model("    p = __torch__.P(x, 4)\n    return torch.mul(p.t, p.n)\n", "Tensor", {},
                  "class P(NamedTuple):\n  t : Tensor\n  n : int\n"),
            "4 8");
        add("enums",
            model(
                "    c = __torch__.Color.RED\n    if torch.eq(c, __torch__.Color.RED):\n      n = c.value\n    else:\n      n = 0\n    return torch.mul(x, n)\n",
                "Tensor", {}, "class Color(Enum):\n  RED = 7\n  BLUE = 8\n"),
            "7 14");
        add("conversions", model("    a = int(torch.sum(x))\n    b = float(a)\n    return torch.mul(x, b)\n"), "3 6");
        // sum 3, its half 1.5
        const std::string half = "    h = float(torch.div(torch.item(torch.sum(x)), 2))\n";
        add("whole part of a number", model(half + "    return torch.mul(x, torch.mul(int(h), 10))\n"), "10 20");
        add("whole part of a quotient of sizes",
            model("    h = torch.div(torch.size(x, 0), 4)\n    return torch.add(x, torch.mul(int(h), 10))\n"), "1 2");
        add("a size as a floating point number",
            model("    n = float(torch.size(x, 0))\n    return torch.add(torch.to(x, 4), n)\n"), "3 4");
        add("a number's truth", model(half + "    return (bool(h), bool(torch.sub(h, h)))\n", "Tuple[bool, bool]"),
            "True False");
        add("floor and ceil of a number",
            model(half + "    return torch.mul(x, torch.add(torch.floor(h), torch.mul(torch.ceil(h), 10)))\n"),
            "21 42");
        add("floor of a negative number", model(half + "    return torch.mul(x, torch.floor(torch.neg(h)))\n"),
            "-2 -4");
        add("round and abs of a number",
            model(half + "    return torch.mul(x, torch.add(torch.round(h), torch.abs(torch.neg(h))))\n"), "3.5 7");
        add("functions of numbers",
            model(
                half +
                "    n = torch.sub(h, h)\n    return torch.mul(x, torch.add(torch.add(torch.exp(n), torch.sin(n)), torch.log(torch.cos(n))))\n"),
            "1 2");
        add("index by data", model("    xs = [10., 20., 30., 40.]\n    return torch.mul(x, xs[int(torch.sum(x))])\n"),
            "40 80");
        add("logic on data",
            model(
                "    a = bool(torch.gt(torch.sum(x), 2))\n    b = bool(torch.gt(torch.sum(x), 5))\n    if torch.__and__(a, torch.__not__(b)):\n      n = 2\n    else:\n      n = 3\n    return torch.mul(x, n)\n"),
            "2 4");
        add("sizes compared as lists",
            model(
                "    if torch.eq(torch.size(x), [2]):\n      n = 2\n    else:\n      n = 3\n    return torch.mul(x, n)\n"),
            "2 4");
        add("a number before a tensor", model("    return torch.div(torch.rsub(x, 1), 2)\n"), "0 -0.5");
    }
    void forms() {
        QFETCH(QByteArray, source);
        QFETCH(QString, expected);
        const Script script(source.toStdString());
        QVERIFY2(script.opened, script.opened ? "" : script.opened.error().text().c_str());
        const auto valid = (*script.opened)->graph->validate();
        QVERIFY2(valid, valid ? "" : valid.error().text().c_str());
        QCOMPARE(numbers(script.run({1, 2})), expected);
    }

    /// What data decides is recorded and not run as a whole.
    void dataDependentFormsAreNotOpaque_data() {
        QTest::addColumn<QByteArray>("body");
        QTest::newRow("list grows in a loop") << QByteArray(
            "    ys = annotate(List[Tensor], [])\n    for i in range(torch.size(x, 0)):\n      _0 = torch.append(ys, x)\n    return torch.cat(ys)\n");
        QTest::newRow("branch") << QByteArray(
            "    if bool(torch.gt(torch.sum(x), 2)):\n      y = torch.neg(x)\n    else:\n      y = x\n    return y\n");
    }
    void dataDependentFormsAreNotOpaque() {
        QFETCH(QByteArray, body);
        const Script script(model(body.toStdString()));
        QVERIFY(script.opened);
        const graph::InternalGraph& graph = *(*script.opened)->graph;
        for (graph::ExprId id : graph.recursiveOrder(graph.mainId())) QVERIFY(!graph.expr(id).callable);
    }

    /// A dict that changes with the data cannot be followed: the module runs as one call and gives the right values.
    void whatCannotBeRecordedRunsAsOneCall() {
        const Script script(model(
            "    d = {\"a\": 1}\n    for i in range(torch.size(x, 0)):\n      torch._set_item(d, \"b\", i)\n    return torch.mul(x, torch.len(d))\n"));
        QVERIFY(script.opened);
        const graph::InternalGraph& graph = *(*script.opened)->graph;
        QVERIFY(std::ranges::any_of(graph.main().order,
                                    [&](graph::ExprId id) { return graph.expr(id).callable != nullptr; }));
        QCOMPARE(numbers(script.run({1, 2})), QStringLiteral("2 4"));
    }

    void raisesAreErrors() {
        const Script script(model(
            "    if torch.eq(1, 1):\n      ops.prim.RaiseException(\"no good\", \"builtins.ValueError\")\n    else:\n      pass\n    return x\n"));
        QVERIFY(script.opened);
        const exec::Recording recording = script.run({1, 2});
        QVERIFY(recording.error);
        QVERIFY(QString::fromStdString(recording.error->text()).contains("no good"));
    }

    /// As at::assert_no_overlap and assert_no_partial_overlap have it.
    void writesThatMeetWhatTheyReadAreRefused_data() {
        QTest::addColumn<QByteArray>("write");
        QTest::addColumn<bool>("refused");
        QTest::newRow("a part") << QByteArray("torch.copy_(torch.slice(y, 0, 1, 4), torch.slice(y, 0, 0, 3))") << true;
        QTest::newRow("apart") << QByteArray("torch.copy_(torch.slice(y, 0, 2, 4), torch.slice(y, 0, 0, 2))") << false;
        QTest::newRow("the same") << QByteArray("torch.add_(y, y)") << false;
        QTest::newRow("a number first") << QByteArray("torch.fill_(y, torch.select(y, 0, 1))") << false;
        QTest::newRow("scattered, the same") << QByteArray("torch.index_copy_(y, 0, torch.arange(4), y)") << true;
        QTest::newRow("in two rows") << QByteArray("torch.mul_(y, torch.view(y, [2, 2]))") << true;
        QTest::newRow("in one row") << QByteArray("torch.mul_(torch.view(y, [1, 4]), y)") << true;
        QTest::newRow("transposed") << QByteArray("torch.mul_(torch.view(y, [2, 2]), torch.t(torch.view(y, [2, 2])))")
                                    << true;
        QTest::newRow("the first three") << QByteArray("torch.mul_(torch.slice(y, 0, 0, 3), torch.slice(y, 0, 1))")
                                         << true;
        QTest::newRow("two of four") << QByteArray("torch.mul_(y, torch.slice(y, 0, 0, 1))") << true;
    }
    void writesThatMeetWhatTheyReadAreRefused() {
        QFETCH(QByteArray, write);
        QFETCH(bool, refused);
        const Script script(model("    y = torch.clone(x)\n    _0 = " + write.toStdString() + "\n    return y\n"));
        const bool failed = !script.opened || script.run({1, 2, 3, 4}).error;
        QCOMPARE(failed, refused);
    }

    /// Whether they are the same elements sizes decide, which only a run knows.
    void writesOfWhatTheyReadAsAWhole_data() {
        QTest::addColumn<QByteArray>("write");
        QTest::addColumn<QString>("expected");
        QTest::newRow("by view") << QByteArray("torch.mul_(y, torch.view(y, [4]))") << "1 4 9 16";
        QTest::newRow("into a view") << QByteArray("torch.mul_(torch.view(y, [4]), y)") << "1 4 9 16";
        QTest::newRow("squeezed") << QByteArray("torch.sub_(torch.squeeze(y), y, alpha=2)") << "-1 -2 -3 -4";
        QTest::newRow("the first four") << QByteArray("torch.mul_(y, torch.slice(y, 0, 0, 4, 1))") << "1 4 9 16";
        QTest::newRow("by two cuts") << QByteArray("torch.mul_(torch.slice(y, 0, 0, 2), torch.narrow(y, 0, 0, 2))")
                                     << "1 4 3 4";
        QTest::newRow("of two rows") << QByteArray(
                                            "torch.mul_(torch.slice(torch.view(y, [2, 2]), 0, 0, 2, 1), "
                                            "torch.view(y, [2, 2]))")
                                     << "1 4 9 16";
    }
    void writesOfWhatTheyReadAsAWhole() {
        QFETCH(QByteArray, write);
        QFETCH(QString, expected);
        const Script script(model("    y = torch.clone(x)\n    _0 = " + write.toStdString() + "\n    return y\n"));
        QVERIFY2(script.opened, script.opened ? "" : script.opened.error().text().c_str());
        QCOMPARE(numbers(script.run({1, 2, 3, 4})), expected);
        // Known as such before a run, and not found out by one call on values.
        const graph::InternalGraph& graph = *(*script.opened)->graph;
        QVERIFY(std::ranges::none_of(graph.main().order,
                                     [&](graph::ExprId id) { return graph.expr(id).callable != nullptr; }));
    }

    /// Without a .debug_pkl the archive's own code is the source.
    void sourceFallsBackToTheArchivesCode() {
        const Script script(model("    y = torch.neg(x)\n    return torch.mul(y, 2)\n"));
        QVERIFY(script.opened);
        const graph::InternalGraph& graph = *(*script.opened)->graph;
        const graph::NodeId node = graph.findNode("mul");
        QVERIFY(node.valid());
        QCOMPARE(graph.expr(graph.node(node).producer).source.text(), std::string("code/__torch__.py:7"));
    }

    void loopsAreCancelled_data() {
        QTest::addColumn<QByteArray>("body");
        // Where the tracer gives up it is one call; recorded, like one of ONNX; and one that the interpreter runs by
        // itself.
        QTest::newRow("endless, one call")
            << QByteArray("    y = x\n    while True:\n      y = torch.add(y, 1)\n    return y\n");
        QTest::newRow("endless, recorded") << QByteArray(
            "    y = x\n    _0 = bool(torch.gt(torch.sum(y), 0))\n    while _0:\n      y1 = torch.abs(y)\n"
            "      _0, y = bool(torch.ge(torch.sum(y1), 0)), y1\n    return y\n");
        QTest::newRow("long, without tensors") << QByteArray(
            "    n = 0\n    for i in range(9223372036854775807):\n      n = i\n    return torch.mul(x, n)\n");
    }
    void loopsAreCancelled() {
        QFETCH(QByteArray, body);
        const Script script(model(body.toStdString()));
        QVERIFY(script.opened);
        std::stop_source stop;
        std::jthread later([&] {
            // Some moment of a loop without end: nothing tells from outside that it is in there.
            std::this_thread::sleep_for(std::chrono::milliseconds(200));
            stop.request_stop();
        });
        const exec::Recording recording = script.run({1, 2}, stop.get_token());
        QVERIFY(recording.error);
        QCOMPARE(recording.error->exitStatus(), 5);
    }

    /// Writing a model as ONNX runs the branch that was not taken as well: one without end is given up.
    void branchesWithoutEndAreGivenUp() {
        const Script script(model(
            "    _0 = bool(torch.gt(torch.sum(x), 0))\n    if _0:\n      y = torch.relu(x)\n    else:\n      y1 = x\n"
            "      _1 = bool(torch.ge(torch.sum(torch.abs(x)), 0))\n      while _1:\n        y2 = torch.abs(y1)\n"
            "        _1, y1 = bool(torch.ge(torch.sum(y2), 0)), y2\n      y = y1\n    return y\n"));
        QVERIFY2(script.opened, script.opened ? "" : script.opened.error().text().c_str());
        const std::vector<Value> inputs{Value(Tensor::of<float>({2}, {1, 2}))};
        QVERIFY(exporting::onnxGraph(**script.opened, inputs, {}));
        std::stop_source stop;
        stop.request_stop();
        base::WorkContext work;
        work.stop = stop.get_token();
        const auto made = exporting::onnxGraph(**script.opened, inputs, work);
        QVERIFY(!made);
        QCOMPARE(made.error().exitStatus(), 5);
    }

    void endlessRecursionIsAnError() {
        const Script script(model("    return __torch__.f(x)\n", "Tensor", {},
                                  "def f(x: Tensor) -> Tensor:\n  return __torch__.f(x)\n"));
        QVERIFY(script.opened);
        const exec::Recording recording = script.run({1, 2});
        QVERIFY(recording.error);
        QVERIFY2(QString::fromStdString(recording.error->text()).contains("deep"), recording.error->text().c_str());
    }

    void numbersAreDrawnInEachRun_data() {
        QTest::addColumn<QByteArray>("draw");
        QTest::newRow("randn") << QByteArray("torch.randn([2])");
        QTest::newRow("rand") << QByteArray("torch.rand([2])");
        QTest::newRow("randint") << QByteArray("torch.randint(1000000, [2])");
        QTest::newRow("of a constant") << QByteArray("torch.normal(torch.zeros([2]), 1.)");
    }
    /// Nothing of it depends on an input; it is an operation of the graph all the same, not a constant.
    void numbersAreDrawnInEachRun() {
        QFETCH(QByteArray, draw);
        const Script script(model("    return torch.add(x, " + draw.toStdString() + ")\n"));
        QVERIFY2(script.opened, script.opened ? "" : script.opened.error().text().c_str());
        const auto plan = exec::Plan::make((*script.opened)->graph, {});
        QVERIFY(plan);
        const auto numbersWith = [&](std::uint64_t seed) {
            exec::Runner runner(1);
            const std::vector<Value> inputs{Value(Tensor::of<float>({2}, {1, 2}))};
            exec::RunOptions options;
            options.seed = seed;
            return numbers(runner.run(**plan, inputs, {}, options));
        };
        QCOMPARE(numbersWith(1), numbersWith(1));
        QVERIFY2(numbersWith(1) != numbersWith(2), qPrintable(numbersWith(1)));
    }

    void absurdSizesAreErrors_data() {
        QTest::addColumn<QByteArray>("body");
        QTest::newRow("list") << QByteArray(
            "    l = torch.mul([1], 4611686018427387904)\n    return torch.mul(x, torch.len(l))\n");
        QTest::newRow("range") << QByteArray(
            "    l = torch.list(range(9223372036854775807))\n    return torch.mul(x, torch.len(l))\n");
        QTest::newRow("zeros") << QByteArray("    return torch.zeros([1099511627776, 1099511627776])\n");
        QTest::newRow("many strings") << QByteArray(
            "    s = torch.mul(\"a\", 3000000)\n    l = annotate(List[str], [])\n    for i in range(100000):\n"
            "      _0 = torch.append(l, torch.add(s, \"b\"))\n    return torch.mul(x, torch.len(l))\n");
        QTest::newRow("a list that doubles") << QByteArray(
            "    l = [0]\n    for i in range(25):\n      l = torch.add(l, l)\n"
            "    for i in range(1000):\n      m = torch.add(l, l)\n    return torch.mul(x, torch.len(l))\n");
        QTest::newRow("entries") << QByteArray(
            "    d = annotate(Dict[int, int], {})\n    for i in range(1000000):\n      torch._set_item(d, i, i)\n"
            "    return torch.mul(x, torch.len(d))\n");
        QTest::newRow("insertions") << QByteArray(
            "    l = annotate(List[int], [])\n    for i in range(1000000):\n      torch.insert(l, 0, i)\n"
            "    return torch.mul(x, torch.len(l))\n");
        QTest::newRow("string") << QByteArray(
            "    s = \"abcdefgh\"\n    for i in range(40):\n      s = torch.add(s, s)\n    return torch.mul(x, torch.len(s))\n");
    }
    void absurdSizesAreErrors() {
        QFETCH(QByteArray, body);
        const Script script(model(body.toStdString()));
        if (!script.opened) {
            QCOMPARE(script.opened.error().exitStatus(), 3);
            return;
        }
        const exec::Recording recording = script.run({1, 2});
        QVERIFY(recording.error);
    }
};

QTEST_GUILESS_MAIN(TestTorchScriptLanguage)

}  // namespace tst_torchscript_language

#include "tst_torchscript_language.moc"
