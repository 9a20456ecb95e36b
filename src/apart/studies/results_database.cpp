#include <apart/core/error.hpp>
#include <apart/studies/study_folder.hpp>

#include <sqlite3.h>
#include <nlohmann/json.hpp>

#include <memory>

namespace apart {

namespace {

namespace fs = std::filesystem;

struct Close {
  void operator()(sqlite3* database) const { sqlite3_close(database); }
  void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
};

class Database {
 public:
  explicit Database(const fs::path& file) : file_(file) {
    sqlite3* database = nullptr;
    const int code = sqlite3_open(file.c_str(), &database);
    database_.reset(database);
    check(code);
  }

  void execute(const std::string& sql) {
    check(sqlite3_exec(database_.get(), sql.c_str(), nullptr, nullptr, nullptr));
  }

  /// Values as JSON: numbers, texts, truth values as 0 and 1, everything else as its text; empty: null.
  void insert(const std::string& sql, const std::vector<std::vector<std::string>>& rows) {
    sqlite3_stmt* made = nullptr;
    check(sqlite3_prepare_v2(database_.get(), sql.c_str(), -1, &made, nullptr));
    const std::unique_ptr<sqlite3_stmt, Close> statement(made);
    for (const auto& row : rows) {
      for (std::size_t i = 0; i < row.size(); ++i) bind(made, int(i) + 1, row[i]);
      if (sqlite3_step(made) != SQLITE_DONE) check(sqlite3_errcode(database_.get()));
      check(sqlite3_reset(made));
    }
  }

 private:
  void bind(sqlite3_stmt* statement, int at, const std::string& text) {
    const nlohmann::json value = nlohmann::json::parse(text, nullptr, false);
    if (text.empty() || value.is_null())
      check(sqlite3_bind_null(statement, at));
    else if (value.is_boolean())
      check(sqlite3_bind_int(statement, at, value.get<bool>()));
    else if (value.is_number_integer())
      check(sqlite3_bind_int64(statement, at, value.get<std::int64_t>()));
    else if (value.is_number())
      check(sqlite3_bind_double(statement, at, value.get<double>()));
    else {
      const std::string shown = value.is_string() ? value.get<std::string>() : text;
      check(sqlite3_bind_text(statement, at, shown.c_str(), int(shown.size()), SQLITE_TRANSIENT));
    }
  }

  void check(int code) const {
    if (code != SQLITE_OK)
      throw InputError("{}: cannot be written: {}; check the space on the disk", file_.string(),
                       database_ ? sqlite3_errmsg(database_.get()) : sqlite3_errstr(code));
  }

  fs::path file_;
  std::unique_ptr<sqlite3, Close> database_;
};

std::string name_in_sql(const std::string& name) {
  std::string quoted = "\"";
  for (const char c : name) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + "\"";
}

}  // namespace

void write_database(const fs::path& file, const StudyTable& table) {
  fs::path fresh = file;
  fresh += ".new";
  std::error_code error;
  fs::remove(fresh, error);
  {
    Database database(fresh);
    std::vector<std::string> names, places;
    for (const std::string& name : table.names) {
      names.push_back(name_in_sql(name));
      places.emplace_back("?");
    }
    names[0] += " integer primary key";
    database.execute("begin");
    database.execute(fmt::format("create table runs ({})", fmt::join(names, ", ")));
    database.insert(fmt::format("insert into runs values ({})", fmt::join(places, ", ")), table.rows);
    database.execute("commit");
  }
  fs::rename(fresh, file, error);
  if (error)
    throw InputError("{}: cannot be written: {}; check the folder's permissions", file.string(),
                     error.message());
}

}  // namespace apart
