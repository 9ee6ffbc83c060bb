// An ONNX export in which one operation is another one, against the archive that it came from: the difference is listed
// whether the operation has a counterpart or is a part of a layer that the archive has whole; what is not compared one
// by one is said.

#include <QtTest>

#include "core/session/diff/model_diff.h"
#include "tests/support/renamed_onnx.h"
#include "tests/support/written_models.h"

namespace tst_planted_exports {

using namespace sonde;
using test::kSmallModels;
using test::openedModel;

namespace {

/// Tag and length of field 4 of a NodeProto, and the operator.
QByteArray operatorBytes(const char* name) {
    QByteArray bytes("\"");
    bytes.append(static_cast<char>(qstrlen(name)));
    return bytes.append(name);
}

}  // namespace

class TestPlantedExports : public QObject {
    Q_OBJECT

  private slots:
    void isFound_data();
    void isFound();
    void whatIsNotComparedIsSaid();

  private:
    test::WrittenModels m_models;
};

void TestPlantedExports::isFound_data() {
    QTest::addColumn<QString>("name");
    QTest::addColumn<QByteArray>("original");
    QTest::addColumn<QByteArray>("planted");
    QTest::addColumn<QString>("told");
    // Of the same length, so that no length in the file changes. The last place in the file is the planted one.
    const auto row = [](const char* title, const char* name, const QByteArray& original, const QByteArray& planted,
                        const char* told) {
        QCOMPARE(original.size(), planted.size());
        QTest::newRow(title) << name << original << planted << told;
    };
    row("another function of two values", "mlp_functional", operatorBytes("Mul"), operatorBytes("Add"),
        "operator: Add -> aten::mul");
    row("a function inside a layer norm", "shared_twice", operatorBytes("Sqrt"), operatorBytes("Tanh"), "(Tanh, norm)");
    row("a sum inside a layer norm", "shared_twice", operatorBytes("Sub"), operatorBytes("Add"), "(Add, norm)");
    row("an attribute", "shared_twice", QByteArray("alpha\x15\x00\x00\x80\x3f", 10),
        QByteArray("alpha\x15\x00\x00\xc0\x3f", 10), "alpha: 1.5 -> 1");
    row("padding on one side", "nested_containers", QByteArray("pads@\x01@\x01@\x01@\x01"),
        QByteArray("pads@\x02@\x01@\x01@\x01"), "Padding: 2×1 before, 1×1 after -> 1×1");
}

void TestPlantedExports::isFound() {
    QFETCH(const QString, name);
    QFETCH(const QByteArray, original);
    QFETCH(const QByteArray, planted);
    QFETCH(const QString, told);
    QByteArray bytes = QByteArray::fromStdString(test::bytesOfFile(kSmallModels + name.toStdString() + ".onnx"));
    const auto archive = openedModel(kSmallModels + name.toStdString() + ".trace.pt");
    const auto plain = session::modelDiff(*m_models.open(bytes.toStdString()), *archive);
    QVERIFY(plain && plain->isEqual());
    const qsizetype at = bytes.lastIndexOf(original);
    QVERIFY(at > 0);
    bytes.replace(at, original.size(), planted);
    const auto exported = m_models.open(bytes.toStdString());
    const auto diff = session::modelDiff(*exported, *archive);
    QVERIFY(diff);
    const std::string text = session::modelDiffText(*exported, *archive, *diff);
    QVERIFY2(!diff->structure.isEqual() && text.find(told.toStdString()) != std::string::npos, text.c_str());
    // Whatever the file calls its nodes.
    const auto renamed = m_models.open(test::RenamedOnnx::of(bytes.toStdString()));
    const auto other = session::modelDiff(*renamed, *archive);
    QVERIFY(other && !other->structure.isEqual());
}

/// A layer norm of nine operations: none of them is called equal without a word.
void TestPlantedExports::whatIsNotComparedIsSaid() {
    const auto exported = openedModel(kSmallModels + "shared_twice.onnx"),
               archive = openedModel(kSmallModels + "shared_twice.trace.pt");
    const auto diff = session::modelDiff(*exported, *archive);
    QVERIFY(diff && diff->isEqual());
    const session::StructureDiff& nodes = diff->structure;
    // ReduceMean, Sub, Pow, ReduceMean, Add, Sqrt, Div, Mul; the last sum has the counterpart.
    QCOMPARE(nodes.comparedByFunction, std::size_t{8});
    const std::string text = session::modelDiffText(*exported, *archive, *diff);
    QVERIFY2(
        text.find("8 of these stand in 1 layer that the other model writes in other operators") != std::string::npos,
        text.c_str());
    QVERIFY2(text.find("operations were not compared one by one)") != std::string::npos, text.c_str());
}

QTEST_APPLESS_MAIN(TestPlantedExports)

}  // namespace tst_planted_exports

#include "tst_planted_exports.moc"
