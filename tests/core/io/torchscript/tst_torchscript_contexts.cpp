// `with` in the serialised language: contexts that change no value, and others by name. The archives are as
// torch.jit.save of PyTorch 1.13 writes them.

#include <QTemporaryDir>
#include <QtTest>

#include "core/document/document.h"
#include "core/exec/runner.h"
#include "tests/support/script_archive.h"

namespace tst_torchscript_contexts {

using namespace sonde;
using tensor::Tensor;
using tensor::Value;

namespace {

/// `with torch.no_grad():`, for it or for another class.
std::string model(const std::string& inside, const std::string& context = "torch.autograd.grad_mode.no_grad") {
    const std::string type = "__torch__." + context;
    return "class M(Module):\n  __parameters__ = []\n  __buffers__ = []\n"
           "  def forward(self: __torch__.M,\n    x: Tensor) -> Tensor:\n"
           "    _0 = " +
           type + ".__new__(" + type + ")\n    _1 = (_0).__init__()\n" + inside;
}
std::string classOf(const std::string& name) {
    const std::string self = "self: __torch__.torch.autograd.grad_mode." + name;
    return "class " + name + ":\n  prev : bool\n  def __enter__(" + self +
           ") -> NoneType:\n"
           "    self.prev = torch.is_grad_enabled()\n    torch.set_grad_enabled(False)\n    return None\n"
           "  def __exit__(" +
           self +
           ",\n    exc_type: Any,\n    exc_value: Any,\n    traceback: Any) -> NoneType:\n"
           "    prev = self.prev\n    torch.set_grad_enabled(prev)\n    return None\n"
           "  def __init__(" +
           self + ") -> NoneType:\n    self.prev = False\n    return None\n";
}

struct Script {
    QTemporaryDir folder;
    base::Result<std::shared_ptr<const document::Document>> opened = base::unreadable("not opened");

    explicit Script(const std::string& source) {
        const std::string path = folder.filePath("m.pt").toStdString();
        test::writeScript(path, source, {},
                          {{"code/__torch__/torch/autograd/grad_mode.py",
                            classOf("no_grad") + classOf("enable_grad") + classOf("other")}});
        opened = document::open(path);
    }
};

}  // namespace

class TestTorchScriptContexts : public QObject {
    Q_OBJECT

  private Q_SLOTS:
    void theyChangeNoValue_data() {
        QTest::addColumn<QByteArray>("inside");
        QTest::newRow("block") << QByteArray("    with _0:\n      z = torch.mul(x, x)\n    return torch.mul(z, x)\n");
        QTest::newRow("name") << QByteArray(
            "    with _0 as g:\n      z = torch.mul(x, x)\n    return torch.mul(z, x)\n");
        QTest::newRow("branch within") << QByteArray(
            "    with _0:\n      if bool(torch.gt(torch.sum(x), 0)):\n        z = torch.mul(x, x)\n"
            "      else:\n        z = torch.neg(x)\n    return torch.mul(z, x)\n");
        QTest::newRow("in a branch") << QByteArray(
            "    if bool(torch.gt(torch.sum(x), 0)):\n      with _0:\n        z = torch.mul(x, x)\n"
            "    else:\n      z = torch.neg(x)\n    return torch.mul(z, x)\n");
        QTest::newRow("two") << QByteArray(
            "    _2 = __torch__.torch.autograd.grad_mode.enable_grad.__new__("
            "__torch__.torch.autograd.grad_mode.enable_grad)\n    _3 = (_2).__init__()\n"
            "    with _0, _2:\n      z = torch.mul(x, x)\n    return torch.mul(z, x)\n");
        QTest::newRow("result within") << QByteArray("    with _0:\n      return torch.mul(torch.mul(x, x), x)\n");
    }
    void theyChangeNoValue() {
        QFETCH(QByteArray, inside);
        const Script script(model(inside.toStdString()));
        QVERIFY2(script.opened.has_value(), script.opened ? "" : script.opened.error().text().c_str());
        const std::string& failure = (*script.opened)->modules->module(0).failure;
        QVERIFY2(failure.empty(), failure.c_str());
        const auto plan = exec::Plan::make((*script.opened)->graph, {});
        QVERIFY(plan.has_value());
        exec::Runner runner(1);
        const exec::Recording recording = runner.run(**plan, {{Value(Tensor::of<float>({2}, {2, -1}))}}, {});
        QVERIFY2(!recording.error, recording.error ? recording.error->text().c_str() : "");
        QCOMPARE(recording.outputs.front().tensor().toDouble(0), 8.0);
        QCOMPARE(recording.outputs.front().tensor().toDouble(1), -1.0);
    }

    void othersAreRefusedByName() {
        const Script script(
            model("    with _0:\n      z = torch.mul(x, x)\n    return z\n", "torch.autograd.grad_mode.other"));
        const std::string failure =
            script.opened ? (*script.opened)->modules->module(0).failure : script.opened.error().text();
        QVERIFY2(failure.find("not for torch.autograd.grad_mode.other") != std::string::npos, failure.c_str());
    }
};

QTEST_GUILESS_MAIN(TestTorchScriptContexts)

}  // namespace tst_torchscript_contexts

#include "tst_torchscript_contexts.moc"
