// Archives run as PyTorch runs them, on real memory. Expected values are worked out by hand from PyTorch's semantics.

#include <QTemporaryDir>
#include <QtTest>

#include "core/document/evaluator.h"
#include "core/io/torchscript/eager.h"
#include "core/io/torchscript/script_module.h"
#include "tests/support/script_archive.h"

namespace tst_eager {

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
        add("strides over the storage of a part",
            "    y = torch.clone(x)\n    v = torch.as_strided(torch.slice(y, 0, 1, 3), [2], [1], 2)\n    _0 = torch.add_(v, 10)\n    return y\n",
            "1 2 13 14");
        add("tensors that are broadcast",
            "    y = torch.clone(x)\n    l = torch.broadcast_tensors([y, torch.ones([2, 1])])\n    _0 = torch.add_(y, 10)\n    return torch.select(l[0], 0, 1)\n",
            "11 12 13 14");
    }
    void memoryIsReal() {
        QFETCH(QByteArray, body);
        QFETCH(QString, expected);
        const Stored stored(model(body.toStdString()));
        QVERIFY(stored.archive->mayWrite());
        QCOMPARE(numbersOf(stored.run({1, 2, 3, 4})), expected);
        QCOMPARE(numbersOf(stored.run({1, 2, 3, 4})), expected);  // a run leaves nothing behind
    }

    /// A view that nobody names gets another shape in place; PyTorch's page "In-place operations" has no exception.
    void viewsWithoutNamesAreReshaped_data() {
        QTest::addColumn<QString>("view");
        QTest::addColumn<QString>("expected");  // 10 is added to the first row of it; y = 1 2 3 4
        const auto add = [](const char* view, const char* expected) { QTest::newRow(view) << view << expected; };
        add("torch.swapdims_(torch.view(y, [2, 2]), 0, 1)", "11 2 13 4");
        add("torch.swapaxes_(torch.view(y, [2, 2]), 0, 1)", "11 2 13 4");
        add("torch.transpose_(torch.view(y, [2, 2]), 0, 1)", "11 2 13 4");
        add("torch.t_(torch.view(y, [2, 2]))", "11 2 13 4");
        add("torch.unsqueeze_(torch.view(y, [2, 2]), 0)", "11 12 13 14");
        add("torch.squeeze_(torch.view(y, [1, 2, 2]), 0)", "11 12 3 4");
        add("torch.squeeze_(torch.view(y, [1, 2, 1, 2]))", "11 12 3 4");
        add("torch.detach_(torch.view(y, [2, 2]))", "11 12 3 4");
    }
    void viewsWithoutNamesAreReshaped() {
        QFETCH(QString, view);
        QFETCH(QString, expected);
        const std::string body = "    y = torch.clone(x)\n    v = " + view.toStdString() +
                                 "\n    _0 = torch.add_(torch.select(v, 0, 0), 10)\n    return y\n";
        QCOMPARE(numbersOf(Stored(model(body)).run({1, 2, 3, 4})), expected);
        const std::string dead = "    y = torch.clone(x)\n    _0 = " + view.toStdString() + "\n    return y\n";
        QCOMPARE(numbersOf(Stored(model(dead)).run({1, 2, 3, 4})), QStringLiteral("1 2 3 4"));
    }

    /// What an operator that changes nothing returns: the tensor itself, another one that shows it, or a copy. Sources:
    /// core/operators/same_tensor.cpp.
    void whatOperatorsReturnOfTheirInput_data() {
        QTest::addColumn<QString>("call");
        QTest::addColumn<bool>("isShown");
        QTest::addColumn<bool>("isItself");
        const auto add = [](std::initializer_list<const char*> calls, bool isShown, bool isItself) {
            for (const char* call : calls) QTest::newRow(call) << call << isShown << isItself;
        };
        add({"contiguous(y)", "to(y, 6)", "type_as(y, x)", "flatten(y)", "atleast_1d(y)", "positive(y)",
             "lift_fresh(y)", "dropout(y, 0.5, False)", "dropout(y, 0., True)", "alpha_dropout(y, 0., True)",
             "broadcast_tensors([y])[0]", "broadcast_tensors([y, x])[0]", "atleast_1d([y])[0]", "cartesian_prod([y])",
             "conj(y)", "resolve_conj(y)", "as_tensor(y)", "real(y)"},
            true, true);
        add({"view(y, [4])",
             "reshape(y, [4])",
             "ravel(y)",
             "expand(y, [4])",
             "expand_as(y, x)",
             "squeeze(y)",
             "permute(y, [0])",
             "transpose(y, 0, 0)",
             "t(y)",
             "chunk(y, 1)[0]",
             "split(y, 4)[0]",
             "tensor_split(y, 1)[0]",
             "detach(y)",
             "view_as(y, x)",
             "alias(y)",
             "narrow(y, 0, 0, 4)",
             "slice(y)",
             "meshgrid([y])[0]",
             "einsum(\"i->i\", [y])",
             "as_strided(y, [4], [1])"},
            true, false);
        add({"clone(y)", "cat([y])", "select(torch.stack([y]), 0, 0)", "hstack([y])", "repeat(y, [1])",
             "to(y, 6, False, True)", "einsum(\"i,i->i\", [y, y])", "cartesian_prod([y, y])", "relu(y)",
             "select(torch.block_diag([y]), 0, 0)"},
            false, false);
    }
    void whatOperatorsReturnOfTheirInput() {
        QFETCH(QString, call);
        QFETCH(bool, isShown);
        QFETCH(bool, isItself);
        const std::string head = "    y = torch.clone(x)\n    v = torch." + call.toStdString() + '\n';
        const Stored writes(model(head + "    _0 = torch.fill_(v, 7)\n    return y\n"));
        QCOMPARE(numbersOf(writes.run({1, 2, 3, 4})), isShown ? QStringLiteral("7 7 7 7") : QStringLiteral("1 2 3 4"));
        const Stored reforms(model(head + "    _0 = torch.unsqueeze_(v, 0)\n    return torch.select(y, 0, 0)\n"));
        QCOMPARE(numbersOf(reforms.run({1, 2, 3, 4})), isItself ? QStringLiteral("1 2 3 4") : QStringLiteral("1"));
    }
    void dataIsAnotherTensor() {
        const Stored reforms(model(
            "    y = torch.clone(x)\n    v = ops.prim.data(y)\n    _0 = torch.fill_(torch.unsqueeze_(v, 0), 7)\n    return torch.select(y, 0, 1)\n"));
        QCOMPARE(numbersOf(reforms.run({1, 2})), QStringLiteral("7"));
    }

    void whatIsRandomHasNoOutputs() {
        const Stored stored(model("    y = torch.rand_like(x)\n    return torch.add_(y, x)\n"));
        QCOMPARE(numbersOf(stored.run({1, 2})), QStringLiteral("random"));
        const Stored still(model("    y = torch.dropout(x, 0.5, False)\n    return torch.add(y, x)\n"));
        QCOMPARE(numbersOf(still.run({1, 2})), QStringLiteral("2 4"));
    }

    /// Dropout between the layers of a recurrent layer that trains.
    void trainingLayersAreRandom() {
        const auto layers = [](const char* flags) {
            return Stored(
                model("    s = torch.unsqueeze(torch.unsqueeze(x, 1), 1)\n    w = torch.ones([1, 1])\n"
                      "    y, h = torch.rnn_tanh(s, torch.zeros([2, 1, 1]), [w, w, w, w], False, 2, " +
                      std::string(flags) + ", False, False)\n    return torch.mul(y, 0)\n"));
        };
        QCOMPARE(numbersOf(layers("0.5, True").run({1, 2})), QStringLiteral("random"));
        QCOMPARE(numbersOf(layers("0., True").run({1, 2})), QStringLiteral("0 0"));
        QCOMPARE(numbersOf(layers("0.5, False").run({1, 2})), QStringLiteral("0 0"));
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

}  // namespace tst_eager

#include "tst_eager.moc"
