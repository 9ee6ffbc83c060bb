// What scripts decide and compute without tensors, and numbers that stand between both. Expected values are those of
// PyTorch 1.13 on programs that torch.jit.save wrote in the same form, or follow from its operators by hand.

#include <QtTest>

#include "tests/support/script_program.h"

namespace tst_torchscript_values {

using namespace sonde;
using test::model;
using test::numbers;
using test::Script;

namespace {

/// 0-dim tensors as the records constants/0, constants/1 …
std::string constantList(const std::vector<std::pair<std::string, std::string>>& typesAndBytes,
                         test::Records& records) {
    std::string items;
    for (std::size_t i = 0; i < typesAndBytes.size(); ++i) {
        const std::string key = std::to_string(i);
        items += test::pickle::tensor(key, typesAndBytes[i].first, 1, 0, {}, {});
        records.emplace_back("constants/" + key, typesAndBytes[i].second);
    }
    return test::pickle::file(test::pickle::tuple(items));
}

template <typename T>
std::string bytesOf(T value) {
    std::string bytes(sizeof value, '\0');
    std::memcpy(bytes.data(), &value, sizeof value);
    return bytes;
}

}  // namespace

class TestTorchScriptValues : public QObject {
    Q_OBJECT

  private slots:
    void forms_data() {
        QTest::addColumn<QByteArray>("source");
        QTest::addColumn<QString>("expected");  // for x = 1, 2
        const auto add = [](const char* name, const std::string& source, const char* expected) {
            QTest::newRow(name) << QByteArray::fromStdString(source) << QString(expected);
        };
        // numbers
        add("float remainder", model("    return torch.mul(x, torch.remainder(7.5, 0.1))\n"), "0.1 0.2");
        add("float remainder of the data",
            model("    return torch.mul(x, torch.remainder(torch.mul(torch.size(x, 0), 3.75), 0.1))\n"), "0.1 0.2");
        add("negative float remainder", model("    return torch.mul(x, torch.remainder(-7.5, 2.))\n"), "0.5 1");
        add("integers beyond doubles",
            model("    a = torch.eq(9007199254740993, 9007199254740992)\n"
                  "    b = torch.lt(9007199254740992, 9007199254740993)\n"
                  "    c = torch.sub(ops.prim.max(9007199254740992, 9007199254740993), 9007199254740992)\n"
                  "    d = {9007199254740993: 1, 9007199254740992: 2}\n"
                  "    return torch.tensor([int(a), int(b), c, torch.len(d)])\n"),
            "0 1 1 2");
        add("the larger of an int and a float is a float",
            model("    return torch.div(torch.tensor(ops.prim.max(3, 2.5)), 2, rounding_mode=None)\n"), "1.5");
        // int32 by an integer would stay int32 and wrap around.
        add("a power of a number of the data is a float",
            model("    n = torch.pow(torch.add(torch.size(x, 0), 1), 25)\n    return torch.mul(torch.to(x, 3), n)\n"),
            "8.47289e+11 1.69458e+12");
        add("a list by a number", model("    return torch.tensor(torch.mul(2, [1, 2]))\n"), "1 2 1 2");
        add("bits of a number of the data", model("    return torch.mul(x, torch.__lshift__(torch.size(x, 0), 2))\n"),
            "8 16");
        add("math of a number of the data", model("    return torch.mul(x, torch.gcd(torch.size(x, 0), 6))\n"), "2 4");
        add("the smallest of a list of the data",
            model("    l = annotate(List[int], [])\n    for i in range(int(torch.sum(x))):\n"
                  "      _0 = torch.append(l, torch.sub(5, i))\n    return torch.mul(x, ops.prim.min(l))\n"),
            "3 6");
        add("order in memory",
            model("    if torch.is_contiguous(x):\n      y = x\n    else:\n"
                  "      y = torch.contiguous(x)\n    return torch.mul(y, 2)\n"),
            "2 4");
        add("a list of a tensor",
            model("    l = annotate(List[float], (torch.add(x, 1)).tolist())\n    return torch.mul(x, l[1])\n"), "3 6");
        add("an optional tensor is one",
            model("    if bool(torch.gt(torch.sum(x), 100)):\n      y = annotate(Optional[Tensor], None)\n    else:\n"
                  "      y = annotate(Optional[Tensor], x)\n    if isinstance(y, Tensor):\n"
                  "      z = torch.mul(unchecked_cast(Tensor, y), 2)\n    else:\n      z = torch.zeros([1])\n"
                  "    return z\n"),
            "2 4");
        // a size before a tensor, as traces have it
        for (const auto& [op, expected] : {std::pair("add", "3 4"), std::pair("mul", "2 4"), std::pair("sub", "1 0"),
                                           std::pair("div", "2 1"), std::pair("maximum", "2 2")}) {
            add(op,
                model("    n = ops.prim.NumToTensor(torch.size(x, 0))\n    return torch." + std::string(op) +
                      "(n, x)\n"),
                expected);
        }
        add("a quotient of sizes before a tensor",
            model(
                "    n = ops.prim.NumToTensor(torch.size(x, 0))\n    return torch.mul(torch.floor_divide(n, 2), x)\n"),
            "1 2");
        add("angles of integers",
            model("    i = torch.to(x, 3)\n    return torch.atan2(i, torch.neg(torch.ones_like(i)))\n"),
            "2.35619 2.03444");
        // hooks
        add("hooks of the root",
            model("    return torch.add(x, 1)\n", "Tensor",
                  "  __forward_pre_hooks__ = [\"pre\", ]\n  __forward_hooks__ = [\"post\", ]\n",
                  "  def pre(m: __torch__.M,\n    inp: Tuple[Tensor]) -> Tuple[Tensor]:\n"
                  "    return (torch.mul((inp)[0], 2),)\n"
                  "  def post(m: __torch__.M,\n    inp: Tuple[Tensor],\n    out: Tensor) -> Tensor:\n"
                  "    return torch.add(torch.mul(out, 3), (inp)[0])\n"),
            "11 19");
    }
    void forms() {
        QFETCH(QByteArray, source);
        QFETCH(QString, expected);
        const Script script(source.toStdString());
        QVERIFY2(script.opened, script.opened ? "" : script.opened.error().text().c_str());
        QCOMPARE(numbers(script.run({1, 2})), expected);
    }

    void constants_data() {
        QTest::addColumn<QByteArray>("body");
        QTest::addColumn<QString>("expected");  // for x = 1, 2; c0 = 3 of int64, c1 = 1.5 of float64
        const auto add = [](const char* name, const char* body, const char* expected) {
            QTest::newRow(name) << QByteArray(body) << QString(expected);
        };
        add("operand", "    return torch.mul(torch.add(x, CONSTANTS.c0), CONSTANTS.c1)\n", "6 7.5");
        add("of a size",
            "    n = ops.prim.NumToTensor(torch.size(x, 0))\n"
            "    return torch.zeros([int(torch.mul(n, CONSTANTS.c0))])\n",
            "0 0 0 0 0 0");
        add("converted",
            "    a = torch.to(CONSTANTS.c0, torch.device(\"cpu\"), 4)\n"
            "    return torch.add(torch.detach(a), torch.to(x, 4))\n",
            "4 5");
        add("another shape", "    return torch.add(torch.view(CONSTANTS.c0, [1]), x)\n", "4 5");
        add("first operand", "    return torch.sub(CONSTANTS.c0, x)\n", "2 1");
        add("in a list", "    return torch.stack([torch.to(torch.sum(x), 7), CONSTANTS.c1])\n", "3 1.5");
        add("returned", "    return torch.unsqueeze(CONSTANTS.c1, 0)\n", "1.5");
        add("both", "    return torch.mul(torch.add(CONSTANTS.c0, CONSTANTS.c1), x)\n", "4.5 9");
        add("chosen", "    return torch.where(torch.gt(x, 1), CONSTANTS.c0, CONSTANTS.c1)\n", "1.5 3");
        add("as a number", "    return torch.select(x, 0, torch.sub(int(CONSTANTS.c0), 2))\n", "2");
    }
    void constants() {
        QFETCH(QByteArray, body);
        QFETCH(QString, expected);
        test::Records records;
        const std::string list =
            constantList({{"LongStorage", bytesOf<std::int64_t>(3)}, {"DoubleStorage", bytesOf<double>(1.5)}}, records);
        records.emplace_back("constants.pkl", list);
        const Script script(model(body.toStdString()), {}, std::move(records));
        QVERIFY2(script.opened, script.opened ? "" : script.opened.error().text().c_str());
        QCOMPARE(numbers(script.run({1, 2})), expected);
    }

    void modulesThatShareAWeight_data() {
        QTest::addColumn<QByteArray>("body");
        QTest::addColumn<int>("second");
        QTest::addColumn<QString>("expected");  // for x = 1, 2; the weight is 10
        const char* const reads = "    return torch.mul(torch.mul(x, self.w), self.k)\n";
        QTest::newRow("and differ in a number") << QByteArray(reads) << 30 << "320 640";
        QTest::newRow("and nothing else") << QByteArray(reads) << 2 << "40 80";
        QTest::newRow("and count by themselves")
            << QByteArray("    self.k = torch.add(self.k, 1)\n    return torch.mul(torch.mul(x, self.w), self.k)\n")
            << 2 << "60 120";
    }
    void modulesThatShareAWeight() {
        QFETCH(QByteArray, body);
        QFETCH(int, second);
        QFETCH(QString, expected);
        using namespace test::pickle;
        const std::string weight = memoized(test::pickle::tensor("0", "FloatStorage", 1, 0, {1}, {1}), 1);
        const auto part = [](const std::string& tensor, int number) {
            return instance("__torch__", "P", text("w") + tensor + text("k") + test::pickle::number(number));
        };
        const Script script(model("    return torch.add((self.a).forward(x, ), (self.b).forward(x, ))\n", "Tensor",
                                  "  a : __torch__.P\n  b : __torch__.P\n",
                                  "class P(Module):\n  __parameters__ = [\"w\", ]\n  __buffers__ = []\n  w : Tensor\n"
                                  "  k : int\n  def forward(self: __torch__.P,\n    x: Tensor) -> Tensor:\n" +
                                      body.toStdString()),
                            text("a") + part(weight, 2) + text("b") + part(fromMemo(1), second),
                            {{"data/0", bytesOf<float>(10)}});
        QVERIFY2(script.opened, script.opened ? "" : script.opened.error().text().c_str());
        QCOMPARE(numbers(script.run({1, 2})), expected);
    }

    void membersOfEnumerationsAreStoredByValue() {
        using namespace test::pickle;
        const std::string source = model(
            "    c = self.c\n    if torch.eq(c, __torch__.Color.G):\n"
            "      y = torch.add(x, (c).value)\n    else:\n      y = x\n    return y\n",
            "Tensor", "  c : __torch__.Color\n", "class Color(Enum):\n  R = 1\n  G = 2\n");
        const Script script(source, text("c") + global("__torch__", "Color") + test::pickle::number(2) + 'R');
        QVERIFY2(script.opened, script.opened ? "" : script.opened.error().text().c_str());
        QCOMPARE(numbers(script.run({1, 2})), QString("3 4"));
        const Script none(source, text("c") + global("__torch__", "Color") + test::pickle::number(3) + 'R');
        QVERIFY(!none.opened);
        QVERIFY(none.opened.error().text().find("no member") != std::string::npos);
    }

    void hugeRecordsAreNotInflated() {
        const Script script(model("    return x\n"), {}, {{"version", "3\n" + std::string(1 << 20, ' ')}});
        QVERIFY(!script.opened);
        const std::string text = script.opened.error().text();
        QVERIFY2(text.find("m/version has 1048578 bytes; at most 64 are read") != std::string::npos, text.c_str());
    }
};

QTEST_GUILESS_MAIN(TestTorchScriptValues)

}  // namespace tst_torchscript_values

#include "tst_torchscript_values.moc"
