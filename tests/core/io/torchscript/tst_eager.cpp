// Archives run as PyTorch runs them, on real memory. Expected values are worked out by hand from PyTorch's semantics.

#include <QTemporaryDir>
#include <QtTest>

#include "core/document/evaluator.h"
#include "core/io/torchscript/eager.h"
#include "core/io/torchscript/script_module.h"
#include "tests/support/script_archive.h"

using namespace sonde;
using io::script::Archive;
using io::script::EagerOutputs;
using tensor::Tensor;
using tensor::Value;

namespace {

std::string model(const std::string& body, const std::string& attributes = {}, const std::string& result = "Tensor") {
    return "class M(Module):\n  __parameters__ = []\n  __buffers__ = []\n" + attributes +
           "  def forward(self: __torch__.M,\n    x: Tensor) -> " + result + ":\n" + body;
}

/// An archive with its folder.
class Stored {
  public:
    explicit Stored(const std::string& source, const std::string& attributes = {}, test::Records more = {}) {
        const std::string path = m_folder.filePath("m.pt").toStdString();
        test::writeScript(path, source, attributes, std::move(more));
        archive = *Archive::open(path);
        module = *io::script::makeRootModule(archive);
    }
    base::Result<EagerOutputs> run(const std::vector<float>& values) const {
        const trace::EvaluatorScope evaluator(document::kernelEvaluator());
        const Tensor x = Tensor::of<float>({static_cast<std::int64_t>(values.size())}, values);
        return io::script::runEagerly(module, std::vector<io::script::NamedInput>{{"x", Value(x)}});
    }

    std::shared_ptr<Archive> archive;
    std::shared_ptr<trace::Module> module;

  private:
    QTemporaryDir m_folder;
};

QString numbersOf(const base::Result<EagerOutputs>& outputs) {
    if (!outputs) return QString::fromStdString(outputs.error().what);
    QStringList parts;
    for (const Value& value : outputs->values) {
        for (std::int64_t i = 0; value.isTensor() && i < value.tensor().numel(); ++i)
            parts << QString::number(value.tensor().toDouble(i));
        if (!value.isTensor()) parts << QString::fromStdString(value.text());
    }
    return outputs->isRandom ? QStringLiteral("random") : parts.join(' ') + QString::fromStdString(outputs->reason);
}

}  // namespace

class TestEager : public QObject {
    Q_OBJECT

  private slots:
    void memoryIsReal_data() {
        QTest::addColumn<QByteArray>("body");
        QTest::addColumn<QString>("expected");  // for x = 1 2 3 4
        const auto add = [](const char* name, const char* body, const char* expected) {
            QTest::newRow(name) << QByteArray(body) << QString(expected);
        };
        add("a view of a view",
            "    y = torch.clone(x)\n    v = torch.slice(torch.slice(y, 0, 1, 4), 0, 1, 3)\n    _0 = torch.add_(v, 10)\n    return y\n",
            "1 2 13 14");
        add("the base, then a view",
            "    y = torch.clone(x)\n    v = torch.select(y, 0, 2)\n    _0 = torch.mul_(y, 2)\n    return torch.add(y, v)\n",
            "8 10 12 14");
        add("elements of a list",
            "    y = torch.clone(x)\n    l = torch.chunk(y, 2)\n    _0 = torch.add_(l[1], 1)\n    return y\n",
            "1 2 4 5");
        add("a list that grows",
            "    y = torch.clone(x)\n    l = [y]\n    m = l\n    _0 = torch.append(m, torch.neg(y))\n    _1 = torch.add_(l[1], y)\n    return torch.add(l[1], y)\n",
            "1 2 3 4");
        add("a branch on what an optional holds",
            "    y = torch.clone(x)\n    if bool(torch.gt(torch.sum(y), 2)):\n      b = annotate(Optional[Tensor], torch.slice(y, 0, 0, 2))\n    else:\n      b = annotate(Optional[Tensor], None)\n    if torch.__isnot__(b, None):\n      _0 = torch.add_(torch._unwrap_optional(b), 50)\n    else:\n      pass\n    return y\n",
            "51 52 3 4");
        add("another shape in place",
            "    y = torch.clone(x)\n    v = torch.slice(y, 0, 0, 2)\n    _0 = torch.unsqueeze_(y, 0)\n    _1 = torch.fill_(v, 7)\n    return torch.select(y, 0, 0)\n",
            "7 7 3 4");
        add("out=",
            "    y = torch.clone(x)\n    v = torch.slice(y, 0, 2, 4)\n    _0 = torch.neg(torch.slice(y, 0, 0, 2), out=v)\n    return y\n",
            "1 2 -1 -2");
        add("in place, bitwise",
            "    y = torch.gt(x, 1)\n    _0 = torch.__iand__(y, torch.lt(x, 4))\n    return torch.mul(x, y)\n",
            "0 2 3 0");
        add("the input", "    _0 = torch.add_(x, 1)\n    return x\n", "2 3 4 5");
    }
    void memoryIsReal() {
        QFETCH(QByteArray, body);
        QFETCH(QString, expected);
        const Stored stored(model(body.toStdString()));
        QVERIFY(stored.archive->mayWrite());
        QCOMPARE(numbersOf(stored.run({1, 2, 3, 4})), expected);
        QCOMPARE(numbersOf(stored.run({1, 2, 3, 4})), expected);  // a run leaves nothing behind
    }

    void whatIsRandomHasNoOutputs() {
        const Stored stored(model("    y = torch.rand_like(x)\n    return torch.add_(y, x)\n"));
        QCOMPARE(numbersOf(stored.run({1, 2})), QStringLiteral("random"));
        const Stored still(model("    y = torch.dropout(x, 0.5, False)\n    return torch.add(y, x)\n"));
        QCOMPARE(numbersOf(still.run({1, 2})), QStringLiteral("2 4"));
    }

    void whatIsNotKnownIsAnError() {
        const Stored stored(model("    y = torch.clone(x)\n    torch._no_such_operator_([y], 1)\n    return y\n"));
        const auto outputs = stored.run({1, 2});
        QVERIFY(!outputs);
        QVERIFY(QString::fromStdString(outputs.error().what).contains("_no_such_operator_"));
    }

    void inputsAreNamedAsTheParameters() {
        const Stored stored(model("    return torch.neg(x)\n"));
        const trace::EvaluatorScope evaluator(document::kernelEvaluator());
        const auto outputs = io::script::runEagerly(
            stored.module, std::vector<io::script::NamedInput>{{"z", Value(Tensor::of<float>({1}, {1.F}))}});
        QVERIFY(outputs && outputs->values.empty());
        QVERIFY(QString::fromStdString(outputs->reason).contains("the input z"));
    }

    void codeThatWritesNothing_data() {
        QTest::addColumn<QByteArray>("body");
        QTest::addColumn<bool>("writes");
        QTest::newRow("pure") << QByteArray("    y = torch.neg(x)\n    return torch.add(y, x)\n") << false;
        QTest::newRow("special names") << QByteArray(
                                              "    y = torch.__and__(torch.gt(x, 1), torch.gt(x, 2))\n    return y\n")
                                       << false;
        QTest::newRow("in place") << QByteArray("    return torch.relu_(x)\n") << true;
        QTest::newRow("in place, by its special name")
            << QByteArray("    return torch.__ior__(torch.gt(x, 1), torch.gt(x, 2))\n") << true;
        QTest::newRow("out=") << QByteArray("    return torch.neg(x, out=x)\n") << true;
        QTest::newRow("a list") << QByteArray("    l = [x]\n    _0 = torch.append(l, x)\n    return l[1]\n") << true;
        QTest::newRow("an attribute") << QByteArray("    self.h = x\n    return x\n") << true;
        QTest::newRow("an operator of one's own") << QByteArray("    return ops.mine.f(x)\n") << true;
    }
    void codeThatWritesNothing() {
        QFETCH(QByteArray, body);
        QFETCH(bool, writes);
        QCOMPARE(Stored(model(body.toStdString())).archive->mayWrite(), writes);
    }
};

QTEST_GUILESS_MAIN(TestEager)
#include "tst_eager.moc"
