// Two TorchScript archives of one kind: the code of one says another number in one place.

#include <QTemporaryDir>
#include <QtTest>

#include "core/document/document.h"
#include "core/io/zip/zip_archive.h"
#include "core/session/diff/model_diff.h"

namespace tst_edited_archives {

using namespace sonde;

class TestEditedArchives : public QObject {
    Q_OBJECT

  private Q_SLOTS:
    void aNumberInTheCodeIsTold_data();
    void aNumberInTheCodeIsTold();

  private:
    /// The archive with the first `from` of its code replaced; empty: it is not there.
    QString edited(const QString& path, const std::string& from, const std::string& to) {
        const auto archive = io::ZipArchive::open(path.toStdString());
        if (!archive) return {};
        std::vector<std::pair<std::string, std::vector<std::byte>>> records;
        bool isReplaced = false;
        for (const io::ZipEntry& entry : (*archive)->entries()) {
            const auto bytes = (*archive)->read(entry);
            if (!bytes) return {};
            std::string text(reinterpret_cast<const char*>(bytes->bytes.data()), bytes->bytes.size());
            const std::size_t at = entry.name.ends_with(".py") && !isReplaced ? text.find(from) : std::string::npos;
            if (at != std::string::npos) text.replace(at, from.size(), to);
            isReplaced = isReplaced || at != std::string::npos;
            const auto all = std::as_bytes(std::span(text.data(), text.size()));
            records.emplace_back(entry.name, std::vector<std::byte>(all.begin(), all.end()));
        }
        const QString written = m_files.filePath(QStringLiteral("edited.pt"));
        return isReplaced && io::writeZip(written.toStdString(), records) ? written : QString();
    }

    QTemporaryDir m_files;
};

void TestEditedArchives::aNumberInTheCodeIsTold_data() {
    QTest::addColumn<QString>("archive");
    QTest::addColumn<QByteArray>("from");
    QTest::addColumn<QByteArray>("to");
    QTest::addColumn<QString>("told");
    QTest::newRow("stride") << "unet_small.trace.pt"
                            << QByteArray("[2, 2], [0, 0], [1, 1], True, [0, 0], 1, False, False, True, True)")
                            << QByteArray("[3, 3], [0, 0], [1, 1], True, [0, 0], 1, False, False, True, True)")
                            << "stride: [2, 2] -> [3, 3]";
    QTest::newRow("padding") << "nested_containers.trace.pt" << QByteArray("[1, 1], [0, 2], [1, 1]")
                             << QByteArray("[1, 1], [0, 3], [1, 1]") << "padding: [0, 2] -> [0, 3]";
    QTest::newRow("epsilon") << "vit_small.trace.pt" << QByteArray("9.9999999999999995e-07") << QByteArray("0.01")
                             << "1e-06 -> 0.01";
    QTest::newRow("keyword") << "vit_small.trace.pt" << QByteArray("torch.gelu(argument_1)")
                             << QByteArray("torch.gelu(argument_1, approximate=\"tanh\")") << "approximate: ";
}

void TestEditedArchives::aNumberInTheCodeIsTold() {
    QFETCH(QString, archive);
    QFETCH(QByteArray, from);
    QFETCH(QByteArray, to);
    QFETCH(QString, told);
    const QString path = QStringLiteral(SONDE_TEST_DATA "/models/") + archive;
    const auto first = document::open(path.toStdString());
    QVERIFY(first);
    const QString other = edited(path, from.toStdString(), to.toStdString());
    QVERIFY(!other.isEmpty());
    const auto second = document::open(other.toStdString());
    QVERIFY2(second, second ? "" : second.error().text().c_str());
    const auto same = session::modelDiff(**first, **first);
    QVERIFY(same && same->structure.isEqual());
    const auto diff = session::modelDiff(**first, **second);
    QVERIFY(diff);
    QCOMPARE(diff->structure.changed.size(), std::size_t{1});
    const QString what = QString::fromStdString(diff->structure.changed.front().what);
    QVERIFY2(what.contains(told), qPrintable(what));
}

QTEST_GUILESS_MAIN(TestEditedArchives)

}  // namespace tst_edited_archives

#include "tst_edited_archives.moc"
