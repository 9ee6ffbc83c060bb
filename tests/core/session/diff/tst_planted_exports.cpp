// An ONNX export in which one operation is another one, against the archive that it came from: the difference is listed
// whether the operation has a counterpart or is a part of a layer that the archive has whole; what is not compared one
// by one is said.

#include <QFile>
#include <QTemporaryDir>
#include <QtTest>

#include "core/document/document.h"
#include "core/session/diff/model_diff.h"
#include "tests/support/renamed_onnx.h"

namespace tst_planted_exports {

using namespace sonde;

namespace {

const std::string kModels = SONDE_TEST_DATA "/models/";

std::shared_ptr<const document::Document> opened(const std::string& path) {
    const auto document = document::open(path, {});
    if (!document) qFatal("%s", document.error().text().c_str());
    return *document;
}

QByteArray bytesOf(const std::string& name) {
    QFile file(QString::fromStdString(kModels + name));
    if (!file.open(QIODevice::ReadOnly)) qFatal("no %s", name.c_str());
    return file.readAll();
}

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
    std::shared_ptr<const document::Document> openBytes(const QByteArray& bytes) {
        const QString path = m_folder.filePath(QStringLiteral("m%1.onnx").arg(m_count++));
        QFile file(path);
        if (!file.open(QIODevice::WriteOnly) || file.write(bytes) < 0) qFatal("not written");
        file.close();
        return opened(path.toStdString());
    }

    QTemporaryDir m_folder;
    int m_count = 0;
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
    QByteArray bytes = bytesOf(name.toStdString() + ".onnx");
    const auto archive = opened(kModels + name.toStdString() + ".trace.pt");
    const auto plain = session::modelDiff(*openBytes(bytes), *archive);
    QVERIFY(plain && plain->isEqual());
    const qsizetype at = bytes.lastIndexOf(original);
    QVERIFY(at > 0);
    bytes.replace(at, original.size(), planted);
    const auto exported = openBytes(bytes);
    const auto diff = session::modelDiff(*exported, *archive);
    QVERIFY(diff);
    const std::string text = session::modelDiffText(*exported, *archive, *diff);
    QVERIFY2(!diff->structure.isEqual() && text.find(told.toStdString()) != std::string::npos, text.c_str());
    // Whatever the file calls its nodes.
    const auto renamed = openBytes(QByteArray::fromStdString(test::RenamedOnnx::of(bytes.toStdString())));
    const auto other = session::modelDiff(*renamed, *archive);
    QVERIFY(other && !other->structure.isEqual());
}

/// A layer norm of nine operations: none of them is called equal without a word.
void TestPlantedExports::whatIsNotComparedIsSaid() {
    const auto exported = opened(kModels + "shared_twice.onnx"), archive = opened(kModels + "shared_twice.trace.pt");
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
