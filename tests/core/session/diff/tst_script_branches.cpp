// A branch on a computed condition: an archive asks for Python's bool of a tensor, ONNX reads the tensor itself.

#include <QTemporaryDir>
#include <QtTest>

#include "core/session/diff/model_diff.h"
#include "tests/support/onnx_file.h"
#include "tests/support/script_archive.h"
#include "tests/support/written_models.h"

namespace tst_script_branches {

using namespace sonde;
using namespace sonde::test::onnxfile;

namespace {

constexpr int kFloat = 1, kBool = 9;

/// relu(x) if sum(x) > 0, else exp(x), as exporters write it.
std::string network(const char* comparison) {
    const auto branch = [](const char* op, const std::string& result) {
        return Graph{.nodes = {{op, {"x"}, {result}}}, .outputs = {valueInfo(result, kFloat, {2, 3})}}.bytes();
    };
    return model(Graph{.nodes = {{"ReduceSum", {"x"}, {"sum"}, "", "", {intAttribute("keepdims", 0)}},
                                 {comparison, {"sum", "zero"}, {"above"}},
                                 {"Cast", {"above"}, {"condition"}, "", "", {intAttribute("to", kBool)}},
                                 {"If",
                                  {"condition"},
                                  {"y"},
                                  "",
                                  "",
                                  {graphAttribute("then_branch", branch("Relu", "r")),
                                   graphAttribute("else_branch", branch("Exp", "e"))}}},
                       .inputs = {valueInfo("x", kFloat, {2, 3})},
                       .outputs = {valueInfo("y", kFloat, {2, 3})},
                       .initializers = {rawTensor("zero", kFloat, {}, std::string(4, '\0'))}});
}

}  // namespace

class TestScriptBranches : public QObject {
    Q_OBJECT

  private slots:
    void conditionsAreCounterparts_data();
    void conditionsAreCounterparts();
};

void TestScriptBranches::conditionsAreCounterparts_data() {
    QTest::addColumn<QString>("condition");  // of sum s
    QTest::addColumn<QString>("comparison");
    QTest::addColumn<bool>("isEqual");
    QTest::newRow("the same") << "bool(torch.gt(s, 0))"
                              << "Greater" << true;
    QTest::newRow("another comparison") << "bool(torch.gt(s, 0))"
                                        << "Less" << false;
}

void TestScriptBranches::conditionsAreCounterparts() {
    QFETCH(const QString, condition);
    QFETCH(const QString, comparison);
    QFETCH(const bool, isEqual);
    const QTemporaryDir folder;
    const std::string path = folder.filePath("m.pt").toStdString();
    test::writeScript(path,
                      "class M(Module):\n  __parameters__ = []\n  __buffers__ = []\n"
                      "  def forward(self: __torch__.M,\n    x: Tensor) -> Tensor:\n    s = torch.sum(x)\n    if " +
                          condition.toStdString() +
                          ":\n      y = torch.relu(x)\n    else:\n      y = torch.exp(x)\n    return y\n");
    test::WrittenModels models;
    const auto onnx = models.open(network(comparison.toLatin1())), script = test::openedModel(path);
    for (const auto& diff : {session::modelDiff(*onnx, *script), session::modelDiff(*script, *onnx)}) {
        QVERIFY(diff);
        QCOMPARE(diff->isEqual(), isEqual);
        if (isEqual) QCOMPARE(diff->structure.matched(), 1.0);
    }
}

QTEST_GUILESS_MAIN(TestScriptBranches)

}  // namespace tst_script_branches

#include "tst_script_branches.moc"
