#include "tools/cli/serve/http_server.h"

#include <atomic>
#include <chrono>
#include <thread>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "boost/asio/dispatch.hpp"
#include "boost/asio/io_context.hpp"
#include "boost/asio/ip/tcp.hpp"
#include "boost/asio/steady_timer.hpp"
#include "boost/asio/strand.hpp"
#include "boost/beast/core/flat_buffer.hpp"
#include "boost/beast/core/tcp_stream.hpp"
#include "boost/beast/http/empty_body.hpp"
#include "boost/beast/http/message.hpp"
#include "boost/beast/http/parser.hpp"
#include "boost/beast/http/read.hpp"
#include "boost/beast/http/string_body.hpp"
#include "boost/beast/http/write.hpp"
#include "core/in_parallel.h"

namespace openset {

HttpAnswer TextAnswer(int status, const std::string& line) {
  HttpAnswer answer;
  answer.status = status;
  answer.body = absl::StrCat(line, "\n");
  return answer;
}

std::vector<std::pair<std::string, std::string>> HeadersOf(const HttpAnswer& answer) {
  std::vector<std::pair<std::string, std::string>> headers = {
      {"Content-Type", answer.type},
      {"Content-Security-Policy",
       absl::StrCat(answer.policy.empty() ? "default-src 'none'" : answer.policy, "; frame-ancestors 'none'")},
      {"X-Content-Type-Options", "nosniff"},
      {"X-Frame-Options", "DENY"},
      {"Referrer-Policy", "no-referrer"},
      {"Cross-Origin-Resource-Policy", "same-origin"},
      {"Cross-Origin-Opener-Policy", "same-origin"},
      {"Cache-Control", "no-store"}};
  headers.insert(headers.end(), answer.headers.begin(), answer.headers.end());
  return headers;
}

namespace {

// The only file that includes Boost.Beast, which takes long to compile.

namespace beast = boost::beast;
namespace http = boost::beast::http;
namespace net = boost::asio;
using boost::system::error_code;
using tcp = net::ip::tcp;

// The state that all connections share.
struct Shared {
  HttpServer::Handler handler;
  ServerLimits limits;
  std::atomic<int> connections{0};

  std::chrono::nanoseconds patience() const { return absl::ToChronoNanoseconds(limits.patience); }
};

template <typename Body>
http::response<Body> Headed(const HttpAnswer& answer) {
  http::response<Body> response;
  response.version(11);
  response.result(static_cast<unsigned>(answer.status));
  for (const auto& [name, value] : HeadersOf(answer)) response.set(name, value);
  response.keep_alive(false);
  return response;
}

// One request and its answer. It lives while a callback refers to it.
class Connection : public std::enable_shared_from_this<Connection> {
 public:
  Connection(tcp::socket socket, Shared* shared) : stream_(std::move(socket)), shared_(shared) {
    parser_.header_limit(shared->limits.header_bytes);
  }
  ~Connection() { --shared_->connections; }

  void Start() {
    net::dispatch(stream_.get_executor(), [self = shared_from_this()] { self->Read(); });
  }

 private:
  void Read() {
    stream_.expires_after(shared_->patience());
    http::async_read_header(stream_, buffer_, parser_,
                            [self = shared_from_this()](error_code error, size_t) { self->Answer(error); });
  }

  void Answer(error_code error) {
    if (!error) {
      const auto& request = parser_.get();
      const auto field = [&request](auto name) {
        const auto value = request[name];
        return std::string(value.data(), value.size());
      };
      if (parser_.chunked() || parser_.content_length().value_or(0) > 0) {
        return Write(TextAnswer(413, "a request has no body here"), /*with_body=*/true);
      }
      HttpRequest asked;
      asked.method = std::string(request.method_string());
      asked.target = std::string(request.target());
      asked.host = field(http::field::host);
      asked.cookie = field(http::field::cookie);
      asked.fetch_site = field("Sec-Fetch-Site");
      asked.fetch_mode = field("Sec-Fetch-Mode");
      // With two hosts, it is unclear which one is meant.
      if (request.count(http::field::host) > 1) return Write(TextAnswer(400, "two hosts"), /*with_body=*/true);
      return Write(shared_->handler(asked), asked.method != "HEAD");
    }
    if (error == http::error::body_limit)
      return Write(TextAnswer(413, "a request has no body here"), /*with_body=*/true);
    if (error == http::error::header_limit || error == http::error::buffer_overflow) {
      return Write(TextAnswer(431, "the request is too long"), /*with_body=*/true);
    }
    // A client that sends nothing, or disconnects, gets no answer.
    if (error.category() != error_code(http::error::bad_method).category() || error == http::error::end_of_stream ||
        error == http::error::partial_message) {
      return;
    }
    Write(TextAnswer(400, "this is not an HTTP request"), /*with_body=*/true);
  }

  void Write(const HttpAnswer& answer, bool with_body) {
    if (with_body) {
      whole_ = Headed<http::string_body>(answer);
      whole_.body() = answer.body;
      whole_.prepare_payload();
      return Send(&whole_);
    }
    head_ = Headed<http::empty_body>(answer);
    head_.content_length(answer.body.size());
    Send(&head_);
  }

  template <typename Response>
  void Send(Response* response) {
    stream_.expires_after(shared_->patience());
    http::async_write(stream_, *response, [self = shared_from_this()](error_code error, size_t) {
      if (!error) self->stream_.socket().shutdown(tcp::socket::shutdown_send, error);
    });
  }

  beast::tcp_stream stream_;
  Shared* const shared_;
  beast::flat_buffer buffer_;
  http::request_parser<http::empty_body> parser_;
  http::response<http::string_body> whole_;
  http::response<http::empty_body> head_;
};

class BeastServer : public HttpServer {
 public:
  BeastServer(Handler handler, const ServerLimits& limits) : acceptor_(context_), wait_(context_) {
    shared_.handler = std::move(handler);
    shared_.limits = limits;
  }

  ~BeastServer() override {
    context_.stop();
    for (std::thread& thread : threads_) thread.join();
  }

  error_code Listen(const tcp::endpoint& endpoint) {
    error_code error;
    acceptor_.open(endpoint.protocol(), error);
    if (!error) acceptor_.set_option(tcp::acceptor::reuse_address(true), error);
    if (!error) acceptor_.bind(endpoint, error);
    if (!error) acceptor_.listen(net::socket_base::max_listen_connections, error);
    if (!error) port_ = acceptor_.local_endpoint(error).port();
    if (error) return error;
    Accept();
    for (int t = 0; t < shared_.limits.threads; ++t) {
      std::thread thread = TryToStartThread([this] { context_.run(); });
      if (thread.joinable()) threads_.push_back(std::move(thread));
    }
    if (threads_.empty()) error = net::error::try_again;
    return error;
  }

  int port() const override { return port_; }

 private:
  void Accept() {
    acceptor_.async_accept(net::make_strand(context_), [this](error_code error, tcp::socket socket) {
      if (error) {  // no descriptor is left, for example; another connection may end soon
        wait_.expires_after(std::chrono::milliseconds(100));
        return wait_.async_wait([this](error_code stopped) {
          if (!stopped) Accept();
        });
      }
      if (++shared_.connections > shared_.limits.connections) {
        --shared_.connections;
        socket.close(error);
      } else {
        std::make_shared<Connection>(std::move(socket), &shared_)->Start();
      }
      Accept();
    });
  }

  Shared shared_;
  // Destroyed before the objects that its connections use.
  net::io_context context_;
  tcp::acceptor acceptor_;
  net::steady_timer wait_;
  int port_ = 0;
  std::vector<std::thread> threads_;
};

absl::StatusOr<net::ip::address> AddressOf(const std::string& text) {
  error_code error;
  const net::ip::address address = net::ip::make_address(text, error);
  if (!error) return address;
  return absl::InvalidArgumentError(absl::StrCat("'", text, "' is not an IP address: 127.0.0.1, 0.0.0.0, ::1 ..."));
}

}  // namespace

absl::StatusOr<std::unique_ptr<HttpServer>> HttpServer::Start(const std::string& address, int port, Handler handler,
                                                              const ServerLimits& limits) {
  const absl::StatusOr<net::ip::address> parsed = AddressOf(address);
  if (!parsed.ok()) return parsed.status();
  auto server = std::make_unique<BeastServer>(std::move(handler), limits);
  if (const error_code error = server->Listen({*parsed, static_cast<uint16_t>(port)}); error) {
    return absl::UnavailableError(absl::StrCat(UrlOf(address, port), ": ", error.message()));
  }
  return server;
}

absl::StatusOr<bool> IsLoopback(const std::string& address) {
  const absl::StatusOr<net::ip::address> parsed = AddressOf(address);
  if (!parsed.ok()) return parsed.status();
  return parsed->is_loopback();
}

std::string UrlOf(const std::string& address, int port) {
  const bool is_v6 = address.find(':') != std::string::npos;
  const absl::StatusOr<net::ip::address> parsed = AddressOf(address);  // "::1" for "0:0:0:0:0:0:0:1"
  const std::string host = parsed.ok() ? parsed->to_string() : address;
  return absl::StrCat("http://", is_v6 ? "[" : "", host, is_v6 ? "]" : "", ":", port);
}

}  // namespace openset
