// Zip archives: those of Python's zipfile are read, and damaged ones are errors whatever their directory says.

#include <QtTest>

#include <cstring>
#include <fstream>

#include "core/io/zip/zip_archive.h"

namespace tst_zip {

using namespace sonde;

namespace {

/// zipfile.ZipFile with "a/b.txt" = "sonde " * 10, deflated, and "empty".
QByteArray plain() {
    return QByteArray::fromBase64(
        "UEsDBBQAAAAIAAAAIQC6DBhJCwAAADwAAAAHAAAAYS9iLnR4dCvOz0tJVSgmiwQAUEsDBBQAAAAAAAAAIQAAAAAAAAAAAAAAAAAFAAAAZW1wdHlQSwECFAMUAAAACAAAACEAugwYSQsA"
        "AAA8AAAABwAAAAAAAAAAAAAAgAEAAAAAYS9iLnR4dFBLAQIUAxQAAAAAAAAAIQAAAAAAAAAAAAAAAAAFAAAAAAAAAAAAAACAATAAAABlbXB0eVBLBQYAAAAAAgACAGgAAABTAAAAAAA=");
}
/// The same behind "#!/bin/sh\n", counted from the file's beginning, with the comment "a comment".
QByteArray behindScript() {
    return QByteArray::fromBase64(
        "IyEvYmluL3NoClBLAwQUAAAACAAAACEAugwYSQsAAAA8AAAABwAAAGEvYi50eHQrzs9LSVUoJosEAFBLAwQUAAAAAAAAACEAAAAAAAAAAAAAAAAABQAAAGVtcHR5UEsBAhQDFAAAAAgAAAAh"
        "ALoMGEkLAAAAPAAAAAcAAAAAAAAAAAAAAIABCgAAAGEvYi50eHRQSwECFAMUAAAAAAAAACEAAAAAAAAAAAAAAAAABQAAAAAAAAAAAAAAgAE6AAAAZW1wdHlQSwUGAAAAAAIAAgBoAAAA"
        "XQAAAAkAYSBjb21tZW50");
}

QByteArray changed(QByteArray bytes, qsizetype at, const char* hex) {
    return bytes.replace(at, QByteArray::fromHex(hex).size(), QByteArray::fromHex(hex));
}

}  // namespace

class TestZip : public QObject {
    Q_OBJECT

    QTemporaryDir m_folder;

    base::Result<std::shared_ptr<const io::ZipArchive>> opened(const QByteArray& bytes) {
        const std::string path = m_folder.filePath("a.zip").toStdString();
        std::ofstream(path, std::ios::binary).write(bytes.data(), bytes.size());
        return io::ZipArchive::open(std::filesystem::path(path));
    }

  private slots:
    void archivesOfOthersAreRead_data() {
        QTest::addColumn<QByteArray>("bytes");
        QTest::newRow("plain") << plain();
        QTest::newRow("behind a script, with a comment") << behindScript();
        QTest::newRow("behind bytes that it does not know of") << QByteArray("0123456789") + plain();
    }
    void archivesOfOthersAreRead() {
        QFETCH(QByteArray, bytes);
        const auto archive = opened(bytes);
        QVERIFY2(archive, archive ? "" : archive.error().text().c_str());
        QCOMPARE((*archive)->entries().size(), 2U);
        const io::ZipEntry* entry = (*archive)->find("a/b.txt");
        QVERIFY(entry && !entry->stored);
        QCOMPARE(entry->size, 60U);
        const auto data = (*archive)->read(*entry);
        QVERIFY2(data, data ? "" : data.error().text().c_str());
        QCOMPARE(QByteArray(reinterpret_cast<const char*>(data->bytes.data()), 60), QByteArray("sonde ").repeated(10));
        const io::ZipEntry* empty = (*archive)->find("empty");
        QVERIFY(empty && empty->stored);
        const auto nothing = (*archive)->read(*empty);
        QVERIFY(nothing && nothing->bytes.empty());
        QVERIFY(!(*archive)->find("a"));
    }

    /// The directory of plain() begins at 83; its first record's fields lie behind that (APPNOTE 4.3.12).
    void impossibleDirectoriesAreErrors_data() {
        QTest::addColumn<QByteArray>("bytes");
        QTest::addColumn<QString>("what");
        const QByteArray good = plain();
        const qsizetype record = 83, end = good.size() - 22;
        QTest::newRow("no zip") << QByteArray("hello") << "not a zip archive";
        QTest::newRow("empty") << QByteArray() << "not a zip archive";
        QTest::newRow("cut off") << good.left(end) << "not a zip archive";
        QTest::newRow("encrypted") << changed(good, record + 8, "01") << "encrypted";
        QTest::newRow("bzip2") << changed(good, record + 10, "0c00") << "unknown compression";
        QTest::newRow("more entries than records") << changed(good, end + 10, "0300") << "damaged";
        QTest::newRow("fewer entries than records") << changed(good, end + 10, "0100") << "damaged";
        QTest::newRow("directory larger than the file") << changed(good, end + 12, "ffffff7f") << "not a zip archive";
        QTest::newRow("directory behind the end") << changed(good, end + 16, "ffffff7f") << "not a zip archive";
        QTest::newRow("data larger than the file") << changed(good, record + 20, "ffffff7f") << "larger than the file";
        QTest::newRow("header behind the end") << changed(good, record + 42, "ffffff7f") << "damaged";
        QTest::newRow("header inside of the directory")
            << changed(good, record + 42, "60000000") << "larger than the file";
        QTest::newRow("impossible size") << changed(good, record + 24, "ffffff7f") << "impossible size";
        QTest::newRow("name behind the end") << changed(good, record + 46 + 7 + 28, "ffff") << "damaged";
        QTest::newRow("second part of several") << changed(good, end + 4, "0100") << "not a zip archive";
    }
    void impossibleDirectoriesAreErrors() {
        QFETCH(QByteArray, bytes);
        QFETCH(QString, what);
        const auto archive = opened(bytes);
        QVERIFY(!archive);
        QCOMPARE(archive.error().exitStatus(), 3);
        QVERIFY2(archive.error().what.find(what.toStdString()) != std::string::npos, archive.error().text().c_str());
    }

    void damagedEntriesAreErrors_data() {
        QTest::addColumn<QByteArray>("bytes");
        QTest::addColumn<QString>("what");
        const QByteArray good = plain();
        QTest::newRow("no local header") << changed(good, 0, "00") << "has no header";
        QTest::newRow("its name too long") << changed(good, 26, "ffff") << "has no header";
        QTest::newRow("another checksum") << changed(good, 83 + 16, "00") << "checksum";
        QTest::newRow("another byte") << changed(good, 38, "00") << "damaged";
        QTest::newRow("another size") << changed(good, 83 + 24, "3d") << "damaged";
    }
    void damagedEntriesAreErrors() {
        QFETCH(QByteArray, bytes);
        QFETCH(QString, what);
        const auto archive = opened(bytes);
        QVERIFY2(archive, archive ? "" : archive.error().text().c_str());
        const auto data = (*archive)->read(*(*archive)->find("a/b.txt"));
        QVERIFY(!data);
        QVERIFY2(data.error().what.find(what.toStdString()) != std::string::npos, data.error().text().c_str());
    }

    /// Any byte of the archive, each in three ways: an error or the right content, never anything else.
    void everyDamagedByteIsSurvived() {
        const QByteArray good = behindScript();
        const QByteArray content = QByteArray("sonde ").repeated(10);
        for (qsizetype i = 0; i < good.size(); ++i) {
            for (const char flip : {'\x01', '\x80', '\xff'}) {
                QByteArray bytes = good;
                bytes[i] = static_cast<char>(bytes[i] ^ flip);
                const auto archive = opened(bytes);
                const io::ZipEntry* entry = archive ? (*archive)->find("a/b.txt") : nullptr;
                const auto data =
                    entry ? (*archive)->read(*entry) : base::Result<io::SharedBytes>(base::unreadable("gone"));
                if (data)
                    QCOMPARE(QByteArray(reinterpret_cast<const char*>(data->bytes.data()),
                                        static_cast<qsizetype>(data->bytes.size())),
                             content);
            }
        }
    }
};

QTEST_GUILESS_MAIN(TestZip)

}  // namespace tst_zip

#include "tst_zip.moc"
