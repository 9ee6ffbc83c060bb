// Archives that nest more deeply than any stack: opening, tracing and running end with an error, or well. A crash ends
// the whole test program.

#include <QtTest>

#include "tests/support/script_program.h"

namespace tst_torchscript_nesting {

using namespace sonde;
using test::model;
using test::numbers;
using test::Script;

namespace {

std::string repeated(const std::string& part, int times) {
    std::string text;
    for (int i = 0; i < times; ++i) text += part;
    return text;
}

}  // namespace

class TestTorchScriptNesting : public QObject {
    Q_OBJECT

  private slots:
    void trailers_data() {
        QTest::addColumn<QByteArray>("expression");
        QTest::newRow("attributes") << QByteArray::fromStdString("x" + repeated(".a", 30'000));
        QTest::newRow("calls") << QByteArray::fromStdString("x" + repeated("()", 30'000));
        QTest::newRow("subscripts") << QByteArray::fromStdString("x" + repeated("[0]", 30'000));
        // Each call is the object of 150 more trailers: neither the calls nor the trailers of one of them are many.
        QTest::newRow("both") << QByteArray::fromStdString(repeated("x(", 150) + "x" +
                                                           repeated(")" + repeated(".a", 150), 150));
    }
    void trailers() {
        QFETCH(QByteArray, expression);
        const Script script(model("    return " + expression.toStdString() + '\n'));
        QVERIFY(!script.opened);
        QCOMPARE(script.opened.error().exitStatus(), 3);
        const std::string text = script.opened.error().text();
        QVERIFY2(text.find("nest too deeply") != std::string::npos, text.c_str());
    }

    void namesOfManyPartsAreRead() {
        const Script script(
            model("    return " + repeated("torch.neg(", 60) + "__torch__.a.f(x)" + repeated(")", 60) + '\n'), {},
            {{"code/__torch__/a.py", "def f(x: Tensor) -> Tensor:\n  return torch.add(x, 1)\n"}});
        QVERIFY2(script.opened, script.opened ? "" : script.opened.error().text().c_str());
        QCOMPARE(numbers(script.run({1, 2})), QString("2 3"));
    }

    void callsWithinExpressionsEnd_data() {
        QTest::addColumn<int>("around");
        for (const int around : {20, 90}) QTest::addRow("%d", around) << around;
    }
    void callsWithinExpressionsEnd() {
        QFETCH(int, around);
        const std::string call = repeated("torch.neg(", around) + "(self).g(x, )" + repeated(")", around);
        const Script script(model("    return (self).g(x, )\n", "Tensor", {},
                                  "  def g(self: __torch__.M,\n    x: Tensor) -> Tensor:\n    return " + call + '\n'));
        QVERIFY2(script.opened, script.opened ? "" : script.opened.error().text().c_str());
        QVERIFY2(numbers(script.run({1, 2})).contains("deep"), qPrintable(numbers(script.run({1, 2}))));
    }

    void callsWithinBlocksEnd() {
        std::string body, indent = "    ";
        for (int i = 0; i < 90; ++i, indent += "  ") body += indent + "if True:\n";
        body += indent + "y = (self).g(x, )\n" + std::string("    return y\n");
        const Script script(model("    return (self).g(x, )\n", "Tensor", {},
                                  "  def g(self: __torch__.M,\n    x: Tensor) -> Tensor:\n" + body));
        QVERIFY2(script.opened, script.opened ? "" : script.opened.error().text().c_str());
        QVERIFY2(numbers(script.run({1, 2})).contains("deep"), qPrintable(numbers(script.run({1, 2}))));
    }

    void listsInLists_data() {
        QTest::addColumn<QByteArray>("body");
        QTest::addColumn<QString>("expected");  // for x = 1, 2
        const std::string inside = "    l = [0]\n    for i in range(100000):\n      l = [l]\n";
        // Each list gets a new one, which is then the one that gets the next.
        const std::string outside =
            "    l = annotate(List[int], [])\n    m = l\n    for i in range(100000):\n      n = annotate(List[int], [])\n"
            "      _0 = torch.append(m, n)\n      m = n\n";
        const auto add = [](const char* name, const std::string& body, const char* expected) {
            QTest::newRow(name) << QByteArray::fromStdString(body + "    return torch.mul(x, k)\n")
                                << QString(expected);
        };
        add("let go", inside + "    l = [0]\n    k = torch.len(l)\n", "1 2");
        add("let go at the end", inside + "    k = torch.len(l)\n", "1 2");
        add("let go from outside", outside + "    l = annotate(List[int], [])\n    k = 3\n", "3 6");
        add("pairs", "    l = (0, 1)\n    for i in range(100000):\n      l = (l, l)\n    k = 5\n", "5 10");
        add("dicts", "    l = {0: 1}\n    for i in range(100000):\n      l = {0: l}\n    k = 7\n", "7 14");
        add("as text", inside + "    k = torch.len(str(l))\n", "");
        add("compared",
            inside +
                "    m = [0]\n    for i in range(100000):\n      m = [m]\n"
                "    k = torch.add(1, int(torch.eq(l, m)))\n",
            "");
        add("sorted", outside + "    p = [l, l]\n    torch.sort(p)\n    k = 1\n", "");
    }
    void listsInLists() {
        QFETCH(QByteArray, body);
        QFETCH(QString, expected);
        const Script script(model(body.toStdString()));
        QVERIFY2(script.opened, script.opened ? "" : script.opened.error().text().c_str());
        const QString found = numbers(script.run({1, 2}));
        if (expected.isEmpty()) QVERIFY2(found.contains("nests too deeply"), qPrintable(found));
        else QCOMPARE(found, expected);
    }
};

QTEST_GUILESS_MAIN(TestTorchScriptNesting)

}  // namespace tst_torchscript_nesting

#include "tst_torchscript_nesting.moc"
